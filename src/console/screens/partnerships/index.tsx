import { type Signal, signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { api, ifMatch, ok, readVersioned, type Schema } from '../../lib/api/api.ts'
import { findShops, loadChoices, shopChoice } from '../../lib/api/record-search.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { processorName } from '../../lib/format/processor-names.ts'
import type { Choice } from '../../lib/forms/choice.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { Form, saveVersioned } from '../../ui/form.tsx'
import { Page, ResourceView, Section } from '../../ui/page.tsx'
import { PickField } from '../../ui/picker.tsx'
import { bodyOf, differencesOf, type Partnership, shopsTwice, type Typed } from './draft.domain.ts'
import { t } from './i18n.ts'

type List = { readonly data: Partnership[] }
type Held = { readonly data: List; readonly etag: string; readonly shops: ReadonlyMap<string, Choice> }
type Row = {
  readonly key: number
  readonly name: Signal<string>
  readonly processor: Signal<Typed['processor']>
  readonly shops: Signal<readonly Choice[]>
}

const processors = ['stripe', 'tap', 'qpay', 'checkout'] as const satisfies readonly Typed['processor'][]
/** Of the API, of one partnership. */
const shopsMax = 20_000
/** Each is a request: others stand by their ids. */
const namedMax = 60

/** What the shops are called that the list names by their ids. @param known those of which one knows it */
async function named(list: List, known: Held['shops'], signal?: AbortSignal): Promise<Held['shops']> {
  const unknown = [...new Set(list.data.flatMap(({ shopIds }) => shopIds))].filter((id) => !known.has(id)).slice(0, namedMax)
  const read = (id: string): Promise<Schema<'AdminShop'>> =>
    ok(api.GET('/admin/shops/{id}', { params: { path: { id } }, ...(signal && { signal }) }))
  const found = await loadChoices(unknown, read, shopChoice)
  return new Map([...known, ...found.map((one) => [one.id, one] as const)])
}
async function read(known: Held['shops'] = new Map(), signal?: AbortSignal): Promise<Held> {
  const { data, etag } = await readVersioned(api.GET('/admin/partnerships', signal ? { signal } : {}))
  return { data, etag, shops: await named(data, known, signal) }
}

/** Which card processor shops begin with, by whom they came. */
export default function Partnerships() {
  const held = useResource('partnerships', (signal) => read(undefined, signal))
  return (
    <Page title={t('title')} subtitle={t('subtitle')}>
      <ResourceView of={held}>{(of) => <Editor of={of} held={held} />}</ResourceView>
    </Page>
  )
}

const typedOf = ({ data, shops }: Held): Typed[] =>
  data.data.map(({ name, defaultCardProcessor, shopIds }) => ({
    name,
    processor: defaultCardProcessor,
    shops: shopIds.map((id) => shops.get(id) ?? { id, text: id }),
  }))
let made = 0
const rowOf = ({ name, processor, shops }: Typed): Row => ({
  key: ++made,
  ...{ name: signal(name), processor: signal(processor), shops: signal(shops) },
})
const now = (rows: readonly Row[]): Typed[] =>
  rows.map(({ name, processor, shops }) => ({ name: name.value, processor: processor.value, shops: shops.value }))

function Editor({ of, held }: { of: Held; held: Resource<Held> }) {
  const [rows] = useState(() => signal<readonly Row[]>(typedOf(of).map(rowOf)))
  const typed = now(rows.value)
  const isDirty = JSON.stringify(bodyOf(typed)) !== JSON.stringify(of.data.data)
  function show(now: Held): void {
    held.put(now)
    rows.value = typedOf(now).map(rowOf)
  }
  async function save(): Promise<void> {
    const twice = shopsTwice(typed)
    if (twice.length > 0) throw new Error(t('twice', { names: twice.join(', ') }))
    const body = { data: bodyOf(typed) }
    const known = new Map([...of.shops, ...typed.flatMap(({ shops }) => shops.map((one) => [one.id, one] as const))])
    const saved = await saveVersioned(of.etag, {
      save: (version) => readVersioned(api.PUT('/admin/partnerships', { params: { header: ifMatch(version) }, body })),
      theirs: async () => {
        const there = await read(known)
        return { data: there, etag: there.etag }
      },
      differences: (there) =>
        differencesOf(body.data, there.data.data, {
          processor: processorName,
          shop: (id) => (there.shops.get(id) ?? known.get(id))?.text ?? id,
        }),
      done: ({ data: { data, etag } }) => (JSON.stringify(data.data) === JSON.stringify(body.data) ? { data, etag } : undefined),
      onTheirs: ({ data }) => show(data),
    })
    if (!saved) return
    const now = { ...saved, shops: await named(saved.data, known) }
    // What stands in the fields is what was saved, but for what souk has written otherwise.
    if (JSON.stringify(now.data.data) === JSON.stringify(body.data)) held.put(now)
    else show(now)
    notify(common('saved'))
  }
  return (
    <Form onSubmit={save} dirty={isDirty}>
      {rows.value.length === 0 && <p class="hint">{t('none')}</p>}
      {rows.value.map((row, at) => (
        <Section
          key={row.key}
          title={row.name.value || t('nr', { n: at + 1 })}
          actions={
            <Button
              kind="danger"
              label={`${common('remove')}: ${row.name.value || t('nr', { n: at + 1 })}`}
              onPress={() => {
                rows.value = rows.value.filter((one) => one !== row)
              }}
            >
              {common('remove')}
            </Button>
          }
        >
          <div class="fields">
            <TextField label={t('name')} bind={row.name} name={`data.${at}.name`} max={100} required />
            <SelectField
              label={t('processor')}
              bind={row.processor}
              options={processors.map((one) => [one, processorName(one)] as const)}
            />
          </div>
          <PickField label={t('shops')} bind={row.shops} max={shopsMax} find={findShops} />
        </Section>
      ))}
      <div class="row">
        <Button
          icon="plus"
          onPress={() => {
            rows.value = [...rows.value, rowOf({ name: '', processor: 'stripe', shops: [] })]
          }}
        >
          {t('add')}
        </Button>
      </div>
    </Form>
  )
}
