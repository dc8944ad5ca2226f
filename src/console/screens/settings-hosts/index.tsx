import { useSignal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { canManage } from '../../lib/session/current-shop.ts'
import { Button } from '../../ui/button.tsx'
import { CopyableText } from '../../ui/copyable-text.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { ErrorMessage } from '../../ui/error-message.tsx'
import { FactList } from '../../ui/fact-list.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { ListView } from '../../ui/list-view.tsx'
import { Moment } from '../../ui/moment.tsx'
import { EmptyState, Page, Section } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { t } from './i18n.ts'

type Host = Schema<'ShopHost'>

export default function Hosts() {
  const query = useQuery()
  const hosts = useResource(String(query.page), (signal) =>
    ok(api.GET('/shops/v2/hosts', { params: { query: { page: query.page, limit: 20 } }, signal })),
  )
  return (
    <Page title={t('title')} subtitle={t('subtitle')}>
      {canManage.value && <AddHost onAdded={hosts.reload} />}
      <ListView resource={hosts} query={query} empty={<EmptyState icon="server" title={t('none')} text={t('noneText')} />}>
        {(list) => (
          <>
            {list.data.map((host) => (
              <HostSection key={host.host} host={host} hosts={hosts} />
            ))}
          </>
        )}
      </ListView>
    </Page>
  )
}

function AddHost({ onAdded }: { onAdded: () => Promise<void> }) {
  const host = useSignal('')
  async function add(): Promise<void> {
    const added = await ok(api.POST('/shops/v2/hosts', { body: { host: host.value.trim() } }))
    host.value = ''
    await onAdded()
    notify(t('added', { host: added.host }))
  }
  return (
    <Section title={t('add')}>
      <Form onSubmit={add} submit={common('add')} dirty={host.value !== ''} label={t('add')}>
        <TextField bind={host} name="host" label={t('host')} hint={t('hostHint')} max={253} inputMode="url" required code />
      </Form>
    </Section>
  )
}

function HostSection({ host: { host, txtName, txtValue, verifiedAt }, hosts }: { host: Host; hosts: Resource<{ data: Host[] }> }) {
  const [verifyError, setVerifyError] = useState<unknown>(undefined)
  const path = { host }
  async function verify(): Promise<void> {
    setVerifyError(undefined)
    try {
      await api.POST('/shops/v2/hosts/{host}/verify', { params: { path } })
    } catch (error) {
      // The DNS records that were found stay beside the expected one.
      setVerifyError(error)
      return
    }
    await hosts.reload()
    notify(t('verified', { host }))
  }
  async function remove(): Promise<void> {
    // The state can have changed, because the DNS is checked regularly.
    await hosts.reload()
    const current = hosts.data.value?.data.find((entry) => entry.host === host)
    if (!current) return
    const text = current.verifiedAt ? t('removeVerified') : t('removeUnverified')
    if (!(await confirm({ title: t('removeTitle', { host }), body: <p>{text}</p>, action: common('remove'), danger: true }))) return
    await api.DELETE('/shops/v2/hosts/{host}', { params: { path } })
    await hosts.reload()
    notify(t('removed', { host }))
  }
  return (
    <Section
      title={host}
      actions={
        <>
          {verifiedAt ? <StatusBadge status="OK" text={t('counts')} /> : <StatusBadge status="PENDING" text={t('waits')} />}
          <Button kind={verifiedAt ? 'plain' : 'primary'} onPress={verify} text={t('verify')} />
          <Button kind="danger" onPress={remove} text={common('remove')} />
        </>
      }
      hint={verifiedAt ? t('keepHint') : t('writeHint')}
    >
      <FactList
        facts={[
          [common('type'), <code key="type">TXT</code>],
          [common('name'), <CopyableText key="name" text={txtName} label={common('name')} />],
          [common('value'), <CopyableText key="value" text={txtValue} label={common('value')} />],
          [t('since'), verifiedAt ? <Moment key="since" at={verifiedAt} /> : '–'],
        ]}
      />
      {verifyError !== undefined && <ErrorMessage error={verifyError} />}
    </Section>
  )
}
