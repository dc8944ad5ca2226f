import { api, ok } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { moment, number } from '../../lib/format/format.ts'
import { common } from '../../lib/i18n/common.ts'
import { useLiveReload, useVisibleInterval } from '../../lib/live/live-events.ts'
import { FactList } from '../../ui/fact-list.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Note } from '../../ui/note.tsx'
import { EmptyState, Page, ResourceView, Section } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { Table } from '../../ui/table.tsx'
import { t } from './i18n.ts'

const tones = { ready: 'good', resting: 'warn', failing: 'bad' } as const

const block = (height: number | null) => (height === null ? '–' : number(height))

export default function Chains() {
  const chains = useResource('chains', (signal) => ok(api.GET('/admin/operations/chains', { signal })))
  useVisibleInterval(15_000, chains.reload)
  useLiveReload(['chain.*', 'job.finished'], chains.reload)
  return (
    <Page title={common('chains')}>
      <ResourceView resource={chains}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState icon="chain" title={t('none')} text={t('noneText')} />
          ) : (
            <>
              {data.map((chain) => (
                <Section key={chain.chainId} title={t('chain', { id: String(chain.chainId) })}>
                  {chain.haltedBecause && (
                    <Note tone="bad">
                      <strong>{t('halted')}</strong> <bdi>{chain.haltedBecause}</bdi>
                    </Note>
                  )}
                  {!chain.isConfigured && <Note tone="warn">{t('notConfigured')}</Note>}
                  <div class="grid">
                    <FactList
                      facts={[
                        [t('head'), block(chain.head)],
                        [t('target'), block(chain.target)],
                        [t('cursor'), block(chain.countedTo)],
                        [t('lag'), block(chain.lag)],
                      ]}
                    />
                    <FactList
                      facts={[
                        [t('synced'), chain.syncedAt && <Moment at={chain.syncedAt} relative />],
                        [t('provider'), chain.provider && <bdi>{chain.provider}</bdi>],
                        [t('contract'), <code key="contract">{chain.contract}</code>],
                        [t('rescan'), block(chain.rescan.readTo)],
                        ...(chain.backfills > 0 ? ([[t('backfills'), number(chain.backfills)]] as const) : []),
                      ]}
                    />
                  </div>
                  {chain.lastError && (
                    <Note tone="warn">
                      <strong>{t('error')}</strong> {chain.lastErrorAt && moment(chain.lastErrorAt)} <bdi>{chain.lastError}</bdi>
                    </Note>
                  )}
                  {chain.nodes.length > 0 && (
                    <Table
                      caption={t('nodes')}
                      rows={chain.nodes}
                      rowKey={({ host }) => host}
                      columns={[
                        { title: t('nodes'), main: true, cell: ({ host }) => <bdi>{host}</bdi> },
                        {
                          title: common('status'),
                          cell: ({ state, restsUntil, inUse }) => (
                            <span class="row tight">
                              <StatusBadge status={state} text={t(state)} tone={tones[state]} />
                              {inUse && <StatusBadge status="ACTIVE" text={t('inUse')} tone="info" />}
                              {restsUntil && <small class="faint">{t('until', { at: moment(restsUntil) })}</small>}
                            </span>
                          ),
                        },
                        { title: t('failures'), alignEnd: true, cell: ({ failures }) => number(failures) },
                      ]}
                    />
                  )}
                </Section>
              ))}
            </>
          )
        }
      </ResourceView>
    </Page>
  )
}
