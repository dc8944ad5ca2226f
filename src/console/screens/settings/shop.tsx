import type { Signal } from '@preact/signals'
import { api, ifMatch, ok, readVersioned, type Schema, type Versioned } from '../../lib/api/api.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { countryOptions, currencyOptions, timeZoneNames } from '../../lib/format/locale-lists.ts'
import type { createDraft } from '../../lib/forms/draft.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { isOwner, updateShop } from '../../lib/session/current-shop.ts'
import { Button } from '../../ui/button.tsx'
import { CheckField, NumberField, SelectField, TagsField, TextAreaField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Note } from '../../ui/note.tsx'
import { Page, ResourceView, Section } from '../../ui/page.tsx'
import { Picture } from '../../ui/picture.tsx'
import { Uploads } from '../../ui/uploads.tsx'
import { useRecordEditor } from '../../ui/use-record-editor.ts'
import { t } from './i18n.ts'
import { changedFields, pageFields, type ShopTexts, shopChange, textsOfShop } from './shop.domain.ts'

type Shop = Schema<'Shop'>

/** Returns a field's value as text, for conflicts. */
const valueText = (value: ShopTexts[keyof ShopTexts]): string =>
  typeof value === 'boolean' ? common(value ? 'yes' : 'no') : typeof value === 'string' ? value : value.join(', ')

export default function ShopSettings() {
  const shop = useResource('', (signal) => readVersioned(api.GET('/shops/v2', { signal })))
  return (
    <Page title={t('title')} subtitle={t('subtitle')}>
      <ResourceView resource={shop} lines={8}>
        {(current) => <ShopForm current={current} resource={shop} />}
      </ResourceView>
    </Page>
  )
}

/** Fills in the legal name of the business verification, which only an owner can read. */
const VerifiedNameButton = ({ bind }: { bind: Signal<string> }) => (
  <Button
    kind="quiet"
    onPress={async () => {
      bind.value = (await ok(api.GET('/kyb'))).legalName
    }}
    text={t('verifiedName')}
  />
)

function ShopForm({ current, resource }: { current: Versioned<Shop>; resource: Resource<Versioned<Shop>> }) {
  const show = (now: Versioned<Shop>) => {
    resource.put(now)
    updateShop({ ...now.data })
  }
  const editor = useRecordEditor({ ...resource, put: show }, current, textsOfShop)
  const { fields: draft } = editor
  async function save(): Promise<void> {
    const [base, input] = [textsOfShop(editor.base().data), editor.values()]
    const body = shopChange(base, input)
    if (!body) return
    const changed = changedFields(base, input)
    const differences = (theirs: Shop): readonly (readonly [string, string, string])[] => {
      const theirTexts = textsOfShop(theirs)
      return changed
        .filter((name) => JSON.stringify(theirTexts[name]) !== JSON.stringify(input[name]))
        .map((name) => [t(name === 'title' ? 'shopTitle' : name), valueText(input[name]), valueText(theirTexts[name])])
    }
    const saved = await editor.save({
      save: (version) => readVersioned<Shop>(api.PATCH('/shops/v2', { params: { header: ifMatch(version) }, body })),
      differences,
      findSaved: (now) => (differences(now.data).length === 0 ? now : undefined),
    })
    if (saved) notify(common('saved'))
  }
  return (
    <Form onSubmit={save} dirty={editor.isDirty} label={t('title')}>
      <Section title={t('identity')}>
        <TextField bind={draft.title} label={t('shopTitle')} max={200} required />
        <TextAreaField bind={draft.description} label={t('description')} max={5_000} hint={t('descriptionHint')} />
        <LogoField bind={draft.logoUrl} />
      </Section>
      <Section title={t('contact')} hint={t('contactHint')}>
        <div class="fields">
          <TextField bind={draft.email} label={t('email')} type="email" />
          <TextField bind={draft.phone} label={t('phone')} type="tel" max={40} />
          <TextField bind={draft.line1} label={t('line1')} max={200} />
          <TextField bind={draft.line2} label={t('line2')} max={200} />
          <TextField bind={draft.city} label={t('city')} max={100} />
          <TextField bind={draft.province} label={t('province')} max={100} />
          <TextField bind={draft.postalCode} label={t('postalCode')} max={20} />
          <SelectField bind={draft.countryCode} label={t('countryCode')} options={[['', '–'], ...countryOptions()]} />
        </div>
      </Section>
      <Section title={t('invoicing')} hint={t('invoicingHint')}>
        <div class="fields">
          <TextField
            bind={draft.legalName}
            label={t('legalName')}
            max={200}
            hint={isOwner.value && draft.legalName.value === '' && <VerifiedNameButton bind={draft.legalName} />}
          />
          <TextField bind={draft.taxNumber} label={t('taxNumber')} max={50} />
        </div>
        <TextAreaField bind={draft.invoiceNote} label={t('invoiceNote')} max={2_000} hint={t('invoiceNoteHint')} />
      </Section>
      <Section title={t('figures')}>
        <div class="fields">
          <SelectField bind={draft.currency} label={t('currency')} options={currencyOptions()} hint={t('currencyHint')} />
          <TextField
            bind={draft.timeZone}
            label={t('timeZone')}
            suggestions={timeZoneNames(current.data.timeZone)}
            hint={t('timeZoneHint')}
            max={64}
            code
            required
          />
        </div>
      </Section>
      <Section title={t('storefront')}>
        <TagsField bind={draft.storefrontOrigins} label={t('storefrontOrigins')} hint={t('originsHint')} max={50} code />
        {draft.storefrontOrigins.value.length === 0 && <Note>{t('originsNone')}</Note>}
        <CheckField bind={draft.showQuantity} label={t('showQuantity')} hint={t('showQuantityHint')} />
        <CheckField bind={draft.strictProvinces} label={t('strictProvinces')} hint={t('strictProvincesHint')} />
        <NumberField bind={draft.returnDays} label={t('returnDays')} hint={t('returnDaysHint')} required max={3} />
      </Section>
      <Section title={t('pages')} hint={t('pagesHint')}>
        <div class="fields">
          {pageFields.map((name) => (
            <TextField key={name} bind={draft[name]} label={t(name)} type="url" max={2_048} placeholder="https://" code />
          ))}
        </div>
      </Section>
    </Form>
  )
}

function LogoField({ bind }: { bind: ReturnType<typeof createDraft<ShopTexts>>['logoUrl'] }) {
  return (
    <div class="field">
      <h3>{t('logoUrl')}</h3>
      {bind.value && (
        <div class="row">
          <Picture url={bind.value} alt={t('logoUrl')} large />
          <Button icon="close" onPress={() => (bind.value = '')} text={t('logoRemove')} />
        </div>
      )}
      <Uploads label={t('logoUpload')} single onDone={({ url }) => (bind.value = url)} />
    </div>
  )
}
