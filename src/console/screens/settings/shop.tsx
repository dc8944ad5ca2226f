import { useMemo } from 'preact/hooks'
import { api, ifMatch, type Schema, versioned } from '../../lib/api/api.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { countryOptions, currencyOptions, timeZoneOptions } from '../../lib/format/locale-lists.ts'
import { draftOf, fill, textsOf } from '../../lib/forms/draft.ts'
import { c } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { shopChanged } from '../../lib/session/current-shop.ts'
import { Note } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { AreaField, CheckField, SelectField, TagsField, TextField } from '../../ui/fields.tsx'
import { Form, saveVersioned } from '../../ui/form.tsx'
import { Loaded, Page, Section } from '../../ui/page.tsx'
import { Picture } from '../../ui/picture.tsx'
import { Uploads } from '../../ui/uploads.tsx'
import { w } from './i18n.ts'
import { changedFields, pageFields, type ShopTexts, shopChange, textsOfShop } from './shop.domain.ts'

type Shop = Schema<'Shop'>
type Held = { data: Shop; etag: string }

const read = (signal?: AbortSignal) => versioned<Shop>(api.GET('/shops/v2', signal ? { signal } : {}))

/** What a field is called, and what stands in it, for who was slower than somebody else. */
const shown = (value: ShopTexts[keyof ShopTexts]): string =>
  typeof value === 'boolean' ? c(value ? 'yes' : 'no') : typeof value === 'string' ? value : value.join(', ')

export default function ShopSettings() {
  const shop = useResource('', read)
  return (
    <Page title={w('title')} subtitle={w('subtitle')}>
      <Loaded of={shop} lines={8}>
        {(held) => <ShopForm held={held} resource={shop} />}
      </Loaded>
    </Page>
  )
}

function ShopForm({ held: { data, etag }, resource }: { held: Held; resource: Resource<Held> }) {
  const draft = useMemo(() => draftOf(textsOfShop(data)), [data.id])
  const base = textsOfShop(data)
  const typed = textsOf(draft)

  function show(now: Held): void {
    resource.put(now)
    fill(draft, textsOfShop(now.data))
    shopChanged({ ...now.data })
  }
  async function save(): Promise<void> {
    const body = shopChange(base, typed)
    if (!body) return
    const changed = changedFields(base, typed)
    const differences = (theirs: Shop): readonly (readonly [string, string, string])[] => {
      const there = textsOfShop(theirs)
      return changed
        .filter((name) => JSON.stringify(there[name]) !== JSON.stringify(typed[name]))
        .map((name) => [w(name), shown(typed[name]), shown(there[name])])
    }
    const saved = await saveVersioned(etag, {
      save: (version) => versioned<Shop>(api.PATCH('/shops/v2', { params: { header: ifMatch(version) }, body })),
      theirs: () => read(),
      differences,
      done: (now) => (differences(now.data).length === 0 ? now : undefined),
      onTheirs: show,
    })
    if (!saved) return
    show(saved)
    notify(c('saved'))
  }
  return (
    <Form onSubmit={save} dirty={changedFields(base, typed).length > 0} label={w('title')}>
      <Section title={w('identity')}>
        <TextField bind={draft.title} label={w('shopTitle')} max={200} required />
        <AreaField bind={draft.description} label={w('description')} max={5_000} hint={w('descriptionHint')} />
        <Logo bind={draft.logoUrl} />
      </Section>
      <Section title={w('contact')} hint={w('contactHint')}>
        <div class="fields">
          <TextField bind={draft.email} label={w('email')} type="email" />
          <TextField bind={draft.phone} label={w('phone')} type="tel" max={40} />
          <TextField bind={draft.line1} label={w('line1')} max={200} />
          <TextField bind={draft.line2} label={w('line2')} max={200} />
          <TextField bind={draft.city} label={w('city')} max={100} />
          <TextField bind={draft.province} label={w('province')} max={100} />
          <TextField bind={draft.postalCode} label={w('postalCode')} max={20} />
          <SelectField bind={draft.countryCode} label={w('countryCode')} options={[['', '–'], ...countryOptions()]} />
        </div>
      </Section>
      <Section title={w('figures')}>
        <div class="fields">
          <SelectField bind={draft.currency} label={w('currency')} options={currencyOptions()} hint={w('currencyHint')} />
          <SelectField bind={draft.timeZone} label={w('timeZone')} options={timeZoneOptions(data.timeZone)} hint={w('timeZoneHint')} />
        </div>
      </Section>
      <Section title={w('storefront')}>
        <TagsField bind={draft.storefrontOrigins} label={w('storefrontOrigins')} hint={w('originsHint')} max={50} code />
        {draft.storefrontOrigins.value.length === 0 && <Note>{w('originsNone')}</Note>}
        <CheckField bind={draft.showQuantity} label={w('showQuantity')} hint={w('showQuantityHint')} />
        <CheckField bind={draft.strictProvinces} label={w('strictProvinces')} hint={w('strictProvincesHint')} />
      </Section>
      <Section title={w('pages')} hint={w('pagesHint')}>
        <div class="fields">
          {pageFields.map((name) => (
            <TextField key={name} bind={draft[name]} label={w(name)} type="url" max={2_048} placeholder="https://" code />
          ))}
        </div>
      </Section>
    </Form>
  )
}

function Logo({ bind }: { bind: ReturnType<typeof draftOf<ShopTexts>>['logoUrl'] }) {
  return (
    <div class="field">
      <h3>{w('logoUrl')}</h3>
      {bind.value && (
        <div class="row">
          <Picture url={bind.value} alt={w('logoUrl')} large />
          <Button
            icon="close"
            onPress={() => {
              bind.value = ''
            }}
          >
            {w('logoRemove')}
          </Button>
        </div>
      )}
      <Uploads
        label={w('logoUpload')}
        single
        onDone={({ url }) => {
          bind.value = url
        }}
      />
    </div>
  )
}
