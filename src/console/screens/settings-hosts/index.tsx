import { useSignal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { c } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { mayManage } from '../../lib/session/current-shop.ts'
import { Copyable, Facts, State, When } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { Problem } from '../../ui/error-message.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { LoadedList } from '../../ui/list.tsx'
import { Empty, Page, Section } from '../../ui/page.tsx'
import { w } from './i18n.ts'

type Host = Schema<'ShopHost'>

export default function Hosts() {
  const query = useQuery()
  const hosts = useResource(String(query.page), (signal) =>
    ok(api.GET('/shops/v2/hosts', { params: { query: { page: query.page, limit: 20 } }, signal })),
  )
  return (
    <Page title={w('title')} subtitle={w('subtitle')}>
      {mayManage.value && <Add onAdded={hosts.reload} />}
      <LoadedList of={hosts} query={query} empty={<Empty icon="server" title={w('none')} text={w('noneText')} />}>
        {(list) => (
          <>
            {list.data.map((host) => (
              <One key={host.host} host={host} hosts={hosts} />
            ))}
          </>
        )}
      </LoadedList>
    </Page>
  )
}

function Add({ onAdded }: { onAdded: () => Promise<void> }) {
  const host = useSignal('')
  async function add(): Promise<void> {
    const added = await ok(api.POST('/shops/v2/hosts', { body: { host: host.value.trim() } }))
    host.value = ''
    await onAdded()
    notify(w('added', { host: added.host }))
  }
  return (
    <Section title={w('add')}>
      <Form onSubmit={add} submit={c('add')} dirty={host.value !== ''} label={w('add')}>
        <TextField bind={host} name="host" label={w('host')} hint={w('hostHint')} max={253} inputMode="url" required code />
      </Form>
    </Section>
  )
}

function One({ host: { host, txtName, txtValue, verifiedAt }, hosts }: { host: Host; hosts: Resource<{ data: Host[] }> }) {
  const [seen, setSeen] = useState<unknown>(undefined)
  const path = { host }
  async function verify(): Promise<void> {
    setSeen(undefined)
    try {
      await api.POST('/shops/v2/hosts/{host}/verify', { params: { path } })
    } catch (refusal) {
      // What was seen in the DNS instead: it stays beside the record.
      setSeen(refusal)
      return
    }
    await hosts.reload()
    notify(w('verified', { host }))
  }
  async function remove(): Promise<void> {
    // It may count by now, or not any more: the DNS is looked at from time to time.
    await hosts.reload()
    const now = hosts.data.value?.data.find((one) => one.host === host)
    if (!now) return
    const text = now.verifiedAt ? w('removeVerified') : w('removeUnverified')
    if (!(await confirm({ title: w('removeTitle', { host }), body: <p>{text}</p>, action: c('remove'), danger: true }))) return
    await api.DELETE('/shops/v2/hosts/{host}', { params: { path } })
    await hosts.reload()
    notify(w('removed', { host }))
  }
  return (
    <Section
      title={host}
      actions={
        <>
          {verifiedAt ? <State of="OK" text={w('counts')} /> : <State of="PENDING" text={w('waits')} />}
          <Button kind={verifiedAt ? 'plain' : 'primary'} onPress={verify}>
            {w('verify')}
          </Button>
          <Button kind="danger" onPress={remove}>
            {c('remove')}
          </Button>
        </>
      }
      hint={verifiedAt ? w('keepHint') : w('writeHint')}
    >
      <Facts
        of={[
          [w('type'), <code key="type">TXT</code>],
          [w('name'), <Copyable key="name" text={txtName} label={w('name')} />],
          [w('value'), <Copyable key="value" text={txtValue} label={w('value')} />],
          [w('since'), verifiedAt ? <When key="since" at={verifiedAt} /> : '–'],
        ]}
      />
      {seen !== undefined && <Problem error={seen} />}
    </Section>
  )
}
