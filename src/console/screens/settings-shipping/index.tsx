import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { api, ifMatch, readVersioned, type Schema } from '../../lib/api/api.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { truncate } from '../../lib/format/truncate.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { shop, shopPath } from '../../lib/session/current-shop.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { Form } from '../../ui/form.tsx'
import { EmptyState, Page, ResourceView, Section } from '../../ui/page.tsx'
import { moveItem, SortableList } from '../../ui/sortable-list.tsx'
import { saveRows, type VersionedRows } from '../settings/rows.ts'
import { describeCosts, describeDestinations } from './describe.ts'
import { MethodForm } from './edit.tsx'
import { t } from './i18n.ts'
import { isSameList, type Method, replaceMethod, sortByCodes } from './methods.domain.ts'
import { ShippingPreview } from './preview.tsx'

type VersionedMethods = VersionedRows<Method>
type MethodsResponse = { data: Schema<'ShippingMethod'>[] }

const read = (signal?: AbortSignal): Promise<VersionedMethods> =>
  readVersioned<MethodsResponse>(api.GET('/shops/v2/shipping-methods', signal ? { signal } : {}))
const put = (data: Method[], etag: string | undefined): Promise<VersionedMethods> =>
  readVersioned<MethodsResponse>(api.PUT('/shops/v2/shipping-methods', { params: { header: ifMatch(etag) }, body: { data } }))

const describeMethod = (method: Method | undefined): string =>
  method ? `${method.title}: ${describeDestinations(method)}; ${describeCosts(method)}` : '–'
/** Lists the differing methods of a conflict, by code. */
function differences(mine: readonly Method[], theirs: readonly Method[]) {
  const codes = [...new Set([...mine, ...theirs].map(({ code }) => code))]
  const describe = (list: readonly Method[], code: string) => describeMethod(list.find((method) => method.code === code))
  const rows = codes
    .map((code) => [code, describe(mine, code), describe(theirs, code)] as const)
    .filter(([, yours, theirText]) => yours !== theirText)
  return rows.length > 0
    ? rows
    : [[t('order'), mine.map(({ title }) => title).join(', '), theirs.map(({ title }) => title).join(', ')] as const]
}

export default function Shipping() {
  const query = useQuery()
  const methods = useResource('', read)
  const { method: code, new: isNew } = query.values
  const isEditing = code !== undefined || isNew !== undefined
  const title = code === undefined ? t('add') : (methods.data.value?.data.data.find((method) => method.code === code)?.title ?? code)
  return (
    <Page
      title={isEditing ? title : common('shipping')}
      subtitle={isEditing ? undefined : t('subtitle')}
      {...(isEditing ? { back: { href: shopPath('settings', 'shipping'), text: common('shipping') } } : {})}
      actions={!isEditing && <ButtonLink kind="primary" icon="plus" href={query.href({ new: '1' })} text={t('add')} />}
    >
      <ResourceView resource={methods}>
        {(current) =>
          isEditing ? (
            <EditMethod key={code ?? ''} code={code} current={current} resource={methods} />
          ) : (
            <MethodList current={current} resource={methods} />
          )
        }
      </ResourceView>
    </Page>
  )
}

function EditMethod({
  code,
  current,
  resource,
}: {
  code: string | undefined
  current: VersionedMethods
  resource: Resource<VersionedMethods>
}) {
  const { route } = useLocation()
  const [formKey, setFormKey] = useState(0)
  const method = current.data.data.find((method) => method.code === code)
  const shippingPath = shopPath('settings', 'shipping')
  if (code !== undefined && !method) return <EmptyState title={common('missing')} text={common('missingText')} />

  async function change(apply: (methods: readonly Method[]) => readonly Method[]): Promise<boolean> {
    const saved = await saveRows(current, {
      ...{ change: apply, put, read },
      differences: (theirs) => differences(apply(theirs), theirs),
      isDone: (theirs) => isSameList(apply(theirs), theirs),
      onViewCurrent(version) {
        resource.put(version)
        setFormKey((count) => count + 1)
      },
    })
    if (saved) resource.put(saved)
    return saved !== undefined
  }
  async function save(changedMethod: Method): Promise<void> {
    if (!(await change((methods) => replaceMethod(methods, code, changedMethod)))) return
    notify(common('saved'))
    route(shippingPath)
  }
  async function remove(): Promise<void> {
    const title = t('removeTitle', { title: truncate(method?.title ?? '') })
    if (!(await confirm({ title, body: <p>{t('removeText')}</p>, action: common('remove'), danger: true }))) return
    if (!(await change((methods) => methods.filter((method) => method.code !== code)))) return
    notify(t('removed'))
    route(shippingPath)
  }
  return (
    <MethodForm
      key={formKey}
      method={method}
      others={(changedMethod) => replaceMethod(current.data.data, code, changedMethod)}
      currency={shop.value?.currency ?? ''}
      save={save}
      onRemove={code === undefined ? undefined : remove}
    />
  )
}

function MethodList({ current, resource }: { current: VersionedMethods; resource: Resource<VersionedMethods> }) {
  const query = useQuery()
  const saved = current.data.data
  const [codes, setCodes] = useState<readonly string[] | undefined>(undefined)
  const methods = codes ? sortByCodes(saved, codes) : saved
  const isMoved = methods.some((method, index) => method !== saved[index])
  async function save(): Promise<void> {
    const sentCodes = codes
    const result = await saveRows(current, {
      ...{ put, read },
      change: (list) => sortByCodes(list, sentCodes ?? []),
      differences: (theirs) => differences(methods, theirs),
      isDone: (theirs) => isSameList(sortByCodes(theirs, sentCodes ?? []), theirs),
      onViewCurrent(now) {
        setCodes(undefined)
        resource.put(now)
      },
    })
    if (!result) return
    // Keeps moves that were made while saving.
    setCodes((now) => (now === sentCodes ? undefined : now))
    resource.put(result)
    notify(common('saved'))
  }
  if (saved.length === 0) return <EmptyState icon="truck" title={t('none')} text={t('noneText')} />
  return (
    <>
      <Section title={t('methods')} hint={t('methodsHint')}>
        {/* Outside the form, so that the form's appearance does not interrupt keyboard or dragging. */}
        <SortableList
          label={t('methods')}
          items={methods}
          keyOf={({ code }) => code}
          nameOf={({ title }) => title}
          onMove={(from, to) => setCodes(moveItem(methods, from, to).map(({ code }) => code))}
        >
          {(method) => (
            <div>
              <a href={query.href({ method: method.code })}>
                <strong>
                  <bdi>{method.title}</bdi>
                </strong>
              </a>
              <p>
                <bdi>{describeCosts(method)}</bdi>
              </p>
              <p class="faint">
                <bdi>{describeDestinations(method)}</bdi>
              </p>
            </div>
          )}
        </SortableList>
        {isMoved && (
          <Form
            onSubmit={save}
            dirty
            submit={t('saveOrder')}
            actions={<Button onPress={() => setCodes(undefined)} text={common('cancel')} />}
          >
            {undefined}
          </Form>
        )}
      </Section>
      <ShippingPreview methods={methods} currency={shop.value?.currency ?? ''} />
    </>
  )
}
