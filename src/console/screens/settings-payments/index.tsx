import { cardProcessors } from '../../../lib/processors.ts'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { cohortName } from '../../lib/format/lending-names.ts'
import { processorName } from '../../lib/format/processor-names.ts'
import type { Draft } from '../../lib/forms/draft.ts'
import { common } from '../../lib/i18n/common.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { notify } from '../../lib/live/toasts.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { isOwner, shop, shopName, shopPath } from '../../lib/session/current-shop.ts'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Note } from '../../ui/note.tsx'
import { EmptyState, Page, ResourceView, Section } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { Table } from '../../ui/table.tsx'
import { useRecordEditor } from '../../ui/use-record-editor.ts'
import { ActiveMethod, ResolverChain } from './chain.tsx'
import { t } from './i18n.ts'
import { EditManual, ManualMethods, putMethods, readMethods, type VersionedMethods } from './manual.tsx'
import { type MethodSetting, type MethodTexts, methods, methodsOf, resolutionsOf, textsOfMethods } from './methods.domain.ts'

type Methods = Schema<'PaymentMethods'>
type Resolved = Schema<'ResolvedPaymentMethods'>

export default function Payments() {
  const name = shopName.value ?? ''
  const resolved = useResource(name, (signal) =>
    ok(api.GET('/checkout/{shopUrl}/payment-intent-resolver', { params: { path: { shopUrl: name } }, signal })),
  )
  const settings = useResource('', readMethods)
  const query = useQuery()
  const { manual, new: isNew } = query.values
  useLiveReload(['shop.*'], resolved.reload)
  if (manual !== undefined || isNew !== undefined)
    return (
      <Page title={t('manual')} back={{ href: shopPath('settings', 'payments'), text: common('payments') }}>
        <ResourceView resource={settings}>
          {(current) => <EditManual key={manual ?? ''} code={manual} current={current} resource={settings} />}
        </ResourceView>
      </Page>
    )
  return (
    <Page title={common('payments')} subtitle={t('subtitle')}>
      <Section title={t('offered')} hint={t('offeredHint')}>
        {shop.value?.status === 'SUSPENDED' ? (
          <Note tone="warn">{t('suspended')}</Note>
        ) : (
          <ResourceView resource={resolved}>
            {(response) => <ResolvedMethods resolved={response} manual={settings.data.value?.data.manual ?? []} />}
          </ResourceView>
        )}
      </Section>
      <ResourceView resource={settings}>{(current) => <ManualMethods current={current} />}</ResourceView>
      {isOwner.value && <ProcessorAccounts />}
      <Section title={t('choices')} hint={t('choicesHint')}>
        <ResourceView resource={settings}>
          {(current) => <MethodsForm current={current} resource={settings} onSaved={resolved.reload} />}
        </ResourceView>
      </Section>
      {shop.value?.mode === 'TEST' && <TestPayments />}
    </Page>
  )
}

const testTokens = ['tok_success', 'tok_decline', 'tok_timeout', 'tok_crash', 'tok_action'] as const

/** Explains the sandbox, which a shop in test mode can always be paid through. */
function TestPayments() {
  return (
    <Section title={common('sandbox')} hint={t('testHint')}>
      <Table
        caption={common('sandbox')}
        rows={testTokens}
        rowKey={(token) => token}
        columns={[
          { title: t('token'), main: true, cell: (token) => <code>{token}</code> },
          { title: t('result'), cell: (token) => t(token) },
        ]}
      />
    </Section>
  )
}

/** @param manual of the settings, which a change updates before the resolver's response */
function ResolvedMethods({ resolved, manual }: { resolved: Resolved; manual: NonNullable<Methods['manual']> }) {
  const { kybCohort, partnership, skippedByBreaker } = resolved.meta
  return (
    <div class="stack">
      {skippedByBreaker.length > 0 && <Note tone="warn">{t('breakers', { names: skippedByBreaker.map(processorName).join(', ') })}</Note>}
      {resolutionsOf(resolved).map((resolution) => (
        <ResolverChain key={resolution.method} resolution={resolution} currency={resolved.currency} />
      ))}
      {manual.map(({ code, title }) => (
        <ActiveMethod key={code} name={title} text={t('activeManual')} />
      ))}
      {shop.value?.mode === 'TEST' && <ActiveMethod name={common('sandbox')} text={t('activeSandbox')} />}
      {partnership && <p class="hint">{t('by', { partnership, cohort: kybCohort ? cohortName(kybCohort) : common('none') })}</p>}
    </div>
  )
}

function MethodsForm({
  current,
  resource,
  onSaved,
}: {
  current: VersionedMethods
  resource: Resource<VersionedMethods>
  onSaved: () => unknown
}) {
  const { data } = current
  const editor = useRecordEditor(resource, current, textsOfMethods)
  const { fields: draft } = editor
  const input = editor.values()
  const body = methodsOf(input)
  const settingText = (name: keyof MethodTexts, { [name]: value }: MethodTexts): string =>
    (methods as readonly string[]).includes(name) ? t(value as MethodSetting) : value

  async function save(): Promise<void> {
    const differences = (theirs: Methods): readonly (readonly [string, string, string])[] => {
      const theirTexts = textsOfMethods(theirs)
      const names = (Object.keys(input) as (keyof MethodTexts)[]).filter((name) => input[name] !== theirTexts[name])
      return names.map((name) => [t(name), settingText(name, input), settingText(name, theirTexts)])
    }
    const saved = await editor.save({
      async save(version) {
        // The other section changes them, so they are those of the version that is replaced.
        const base = editor.base()
        const { manual } = (version === base.etag ? base : await readMethods()).data
        return putMethods({ ...body, ...(manual && { manual }) }, version)
      },
      differences,
      findSaved: (now) => (differences(now.data).length === 0 ? now : undefined),
    })
    if (!saved) return
    onSaved()
    notify(common('saved'))
  }
  return (
    <Form onSubmit={save} dirty={editor.isDirty} label={t('choices')}>
      {data.warnings.map(({ method, message }) => (
        <Note key={`${method} ${message}`} tone="warn">
          <strong>{t(method)}:</strong> <bdi>{message}</bdi>
        </Note>
      ))}
      {methods.map((method) => (
        <fieldset key={method} class="method">
          <legend>{t(method)}</legend>
          <div class="fields">
            <SelectField
              bind={draft[method]}
              label={t('stand')}
              options={(['auto', 'on', 'off'] as const).map((setting) => [setting, t(setting)])}
            />
            {input[method] !== 'auto' && <MethodFields method={method} draft={draft} />}
          </div>
        </fieldset>
      ))}
    </Form>
  )
}

const processorOptions = (none: string) => [['', none], ...cardProcessors.map((name) => [name, processorName(name)] as const)] as const

/** The further fields of a method. */
function MethodFields({ method, draft }: { method: (typeof methods)[number]; draft: Draft<MethodTexts> }) {
  switch (method) {
    case 'card':
      return (
        <>
          <SelectField
            bind={draft.processor}
            label={t('processor')}
            options={processorOptions(t('processorAuto'))}
            // A key belongs to one processor.
            onSelect={() => (draft.publishableKey.value = '')}
          />
          {draft.processor.value && (
            <TextField bind={draft.publishableKey} label={t('publishableKey')} hint={t('publishableKeyHint')} max={300} code />
          )}
        </>
      )
    case 'paypal':
      return <TextField bind={draft.clientId} label={t('clientId')} hint={t('publishableKeyHint')} max={300} code />
    case 'wallet':
      return (
        <>
          <SelectField bind={draft.tokenProvider} label={t('tokenProvider')} options={processorOptions(t('tokenProviderAuto'))} />
          <TextField bind={draft.merchantIdentifier} label={t('merchantIdentifier')} hint={t('merchantIdentifierHint')} max={300} code />
        </>
      )
    default:
      return null
  }
}

function ProcessorAccounts() {
  const accounts = useResource('', (signal) => ok(api.GET('/shops/v2/processor-accounts', { signal })))
  const modes = (list: readonly string[]) =>
    list.length === 0 ? (
      '–'
    ) : (
      <span class="row tight">
        {list.map((mode) => (
          <StatusBadge key={mode} status={mode} />
        ))}
      </span>
    )
  return (
    <Section title={t('accounts')} hint={t('accountsHint')}>
      <ResourceView resource={accounts}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState title={common('nothing')} />
          ) : (
            <Table
              caption={t('processors')}
              columns={[
                { title: t('processor'), main: true, cell: ({ processor }) => processorName(processor) },
                { title: t('own'), cell: ({ accounts: ownAccounts }) => modes(ownAccounts.map(({ mode }) => mode)) },
                { title: t('instance'), cell: ({ instance }) => modes((['TEST', 'LIVE'] as const).filter((mode) => instance[mode])) },
              ]}
              rows={data}
              rowKey={({ processor }) => processor}
              href={({ processor }) => shopPath('settings', 'payments', processor)}
            />
          )
        }
      </ResourceView>
    </Section>
  )
}
