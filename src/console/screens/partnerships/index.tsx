import { type Signal, signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { cardProcessors } from '../../../lib/processors.ts'
import { api, ifMatch, ok, readVersioned, type Schema } from '../../lib/api/api.ts'
import { findShops, loadChoices, shopChoice } from '../../lib/api/record-search.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { processorName } from '../../lib/format/processor-names.ts'
import type { Choice } from '../../lib/forms/choice.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Page, ResourceView, Section } from '../../ui/page.tsx'
import { PickField } from '../../ui/picker.tsx'
import { saveVersioned } from '../../ui/save-versioned.tsx'
import { bodyOf, differencesOf, findDuplicateShops, type Partnership, type PartnershipText } from './draft.domain.ts'
import { t } from './i18n.ts'

type PartnershipList = { readonly data: Partnership[] }
type VersionedList = { readonly data: PartnershipList; readonly etag: string; readonly shops: ReadonlyMap<string, Choice> }
type PartnershipRow = {
  readonly key: number
  readonly name: Signal<string>
  readonly processor: Signal<PartnershipText['processor']>
  readonly shops: Signal<readonly Choice[]>
}

/** The API's limit per partnership. */
const shopsMax = 20_000
/** Each name is a request; further shops are shown by id. */
const shopsReadMax = 60

/**
 * Reads the names of the listed shops.
 * @param knownShops names that are loaded already
 */
async function readShopNames(
  list: PartnershipList,
  knownShops: VersionedList['shops'],
  signal?: AbortSignal,
): Promise<VersionedList['shops']> {
  const missingIds = [...new Set(list.data.flatMap(({ shopIds }) => shopIds))].filter((id) => !knownShops.has(id)).slice(0, shopsReadMax)
  const read = (id: string): Promise<Schema<'AdminShop'>> =>
    ok(api.GET('/admin/shops/{id}', { params: { path: { id } }, ...(signal && { signal }) }))
  const choices = await loadChoices(missingIds, read, shopChoice)
  return new Map([...knownShops, ...choices.map((choice) => [choice.id, choice] as const)])
}
async function read(knownShops: VersionedList['shops'] = new Map(), signal?: AbortSignal): Promise<VersionedList> {
  const { data, etag } = await readVersioned(api.GET('/admin/partnerships', signal ? { signal } : {}))
  return { data, etag, shops: await readShopNames(data, knownShops, signal) }
}

/** Default card processors of shops, by partnership. */
export default function Partnerships() {
  const partnerships = useResource('partnerships', (signal) => read(undefined, signal))
  return (
    <Page title={common('partnerships')} subtitle={t('subtitle')}>
      <ResourceView resource={partnerships}>{(version) => <PartnershipsForm version={version} resource={partnerships} />}</ResourceView>
    </Page>
  )
}

const valuesOf = ({ data, shops }: VersionedList): PartnershipText[] =>
  data.data.map(({ name, defaultCardProcessor, shopIds }) => ({
    name,
    processor: defaultCardProcessor,
    shops: shopIds.map((id) => shops.get(id) ?? { id, text: id }),
  }))
let lastKey = 0
const createRow = ({ name, processor, shops }: PartnershipText): PartnershipRow => ({
  key: ++lastKey,
  ...{ name: signal(name), processor: signal(processor), shops: signal(shops) },
})
const readRows = (rows: readonly PartnershipRow[]): PartnershipText[] =>
  rows.map(({ name, processor, shops }) => ({ name: name.value, processor: processor.value, shops: shops.value }))

function PartnershipsForm({ version, resource }: { version: VersionedList; resource: Resource<VersionedList> }) {
  const [rows] = useState(() => signal<readonly PartnershipRow[]>(valuesOf(version).map(createRow)))
  const input = readRows(rows.value)
  const isDirty = JSON.stringify(bodyOf(input)) !== JSON.stringify(version.data.data)
  function showVersion(now: VersionedList): void {
    resource.put(now)
    rows.value = valuesOf(now).map(createRow)
  }
  async function save(): Promise<void> {
    const duplicates = findDuplicateShops(input)
    if (duplicates.length > 0) throw new Error(t('twice', { names: duplicates.join(', ') }))
    const body = { data: bodyOf(input) }
    const knownShops = new Map([...version.shops, ...input.flatMap(({ shops }) => shops.map((shop) => [shop.id, shop] as const))])
    const saved = await saveVersioned(version.etag, {
      save: (version) => readVersioned(api.PUT('/admin/partnerships', { params: { header: ifMatch(version) }, body })),
      readCurrent: async () => {
        const theirs = await read(knownShops)
        return { data: theirs, etag: theirs.etag }
      },
      differences: (theirs) =>
        differencesOf(body.data, theirs.data.data, {
          processor: processorName,
          shop: (id) => (theirs.shops.get(id) ?? knownShops.get(id))?.text ?? id,
        }),
      findSaved: ({ data: { data, etag } }) => (JSON.stringify(data.data) === JSON.stringify(body.data) ? { data, etag } : undefined),
      onViewCurrent: ({ data }) => showVersion(data),
    })
    if (!saved) return
    const now = { ...saved, shops: await readShopNames(saved.data, knownShops) }
    // Refills the form only if the API stored something else, so that the focus stays.
    if (JSON.stringify(now.data.data) === JSON.stringify(body.data)) resource.put(now)
    else showVersion(now)
    notify(common('saved'))
  }
  return (
    <Form onSubmit={save} dirty={isDirty}>
      {rows.value.length === 0 && <p class="hint">{t('none')}</p>}
      {rows.value.map((row, index) => (
        <Section
          key={row.key}
          title={row.name.value || t('nr', { n: index + 1 })}
          actions={
            <Button
              kind="danger"
              label={`${common('remove')}: ${row.name.value || t('nr', { n: index + 1 })}`}
              onPress={() => (rows.value = rows.value.filter((other) => other !== row))}
              text={common('remove')}
            />
          }
        >
          <div class="fields">
            <TextField label={common('name')} bind={row.name} name={`data.${index}.name`} max={100} required />
            <SelectField
              label={t('processor')}
              bind={row.processor}
              options={cardProcessors.map((processor) => [processor, processorName(processor)] as const)}
            />
          </div>
          <PickField label={common('shops')} bind={row.shops} max={shopsMax} find={findShops} />
        </Section>
      ))}
      <div class="row">
        <Button
          icon="plus"
          onPress={() => (rows.value = [...rows.value, createRow({ name: '', processor: 'stripe', shops: [] })])}
          text={t('add')}
        />
      </div>
    </Form>
  )
}
