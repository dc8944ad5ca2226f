import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { moment, number } from '../../lib/format/format.ts'
import { processorName } from '../../lib/format/processor-names.ts'
import { common } from '../../lib/i18n/common.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { notify } from '../../lib/live/toasts.ts'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Page, ResourceView, Section } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { Table } from '../../ui/table.tsx'
import { t } from './i18n.ts'

type Breaker = Schema<'Breaker'>

const tones = { CLOSED: 'good', OPEN: 'bad', HALF_OPEN: 'warn' } as const

export default function Breakers() {
  const breakers = useResource('breakers', (signal) => ok(api.GET('/admin/operations/breakers', { signal })))
  useLiveReload(['breaker.*'], breakers.reload)
  const change = async (processor: Breaker['processor'], action: 'isolate' | 'restore') => {
    await ok(api.POST('/admin/operations/breakers/{processor}', { params: { path: { processor } }, body: { action } }))
    await breakers.reload()
  }
  async function isolate(processor: Breaker['processor']): Promise<void> {
    const isConfirmed = await confirm({
      title: t('isolateOf', { name: processorName(processor) }),
      body: <p>{t('isolateText', { name: processorName(processor) })}</p>,
      action: t('isolate'),
      danger: true,
    })
    if (!isConfirmed) return
    await change(processor, 'isolate')
    notify(t('done', { name: processorName(processor) }), { subject: processor, undo: () => change(processor, 'restore') })
  }
  async function restore(processor: Breaker['processor']): Promise<void> {
    await change(processor, 'restore')
    notify(t('undone', { name: processorName(processor) }), { subject: processor })
  }
  return (
    <Page title={common('breakers')} subtitle={t('hint')}>
      <ResourceView resource={breakers}>
        {({ data }) => (
          <>
            {data.map(({ processor, isolatedAt, hosts }) => (
              <Section
                key={processor}
                title={processorName(processor)}
                actions={
                  isolatedAt ? (
                    <Button
                      label={t('restoreOf', { name: processorName(processor) })}
                      onPress={() => restore(processor)}
                      text={t('restore')}
                    />
                  ) : (
                    <Button
                      kind="danger"
                      label={t('isolateOf', { name: processorName(processor) })}
                      onPress={() => isolate(processor)}
                      text={t('isolate')}
                    />
                  )
                }
              >
                {isolatedAt && <StatusBadge status="OPEN" tone="bad" text={t('isolated', { at: moment(isolatedAt) })} />}
                {hosts.length === 0 ? (
                  <p class="hint">{t('noHosts')}</p>
                ) : (
                  <Table
                    caption={processorName(processor)}
                    rows={hosts}
                    rowKey={({ host }) => host}
                    columns={[
                      { title: t('host'), main: true, cell: ({ host }) => <bdi>{host}</bdi> },
                      { title: common('status'), cell: ({ state }) => <StatusBadge status={state} text={t(state)} tone={tones[state]} /> },
                      { title: t('failures'), alignEnd: true, cell: ({ failures }) => (failures === null ? '–' : number(failures)) },
                      { title: t('since'), cell: ({ openSince }) => openSince && <Moment at={openSince} relative /> },
                      { title: t('probe'), cell: ({ probeAt }) => probeAt && <Moment at={probeAt} relative /> },
                    ]}
                  />
                )}
              </Section>
            ))}
          </>
        )}
      </ResourceView>
    </Page>
  )
}
