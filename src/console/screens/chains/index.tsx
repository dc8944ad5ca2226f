import { api, ok } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { moment, number } from '../../lib/format/format.ts'
import { common } from '../../lib/i18n/common.ts'
import { useLive, useLooking } from '../../lib/live/live-events.ts'
import { Facts, Note, State, When } from '../../ui/bits.tsx'
import { Empty, Loaded, Page, Section } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { t } from './i18n.ts'

const tones = { ready: 'good', resting: 'warn', failing: 'bad' } as const

/** A block's number, where it is known. */
const block = (at: number | null) => (at === null ? '–' : number(at))

export default function Chains() {
  const chains = useResource('chains', (signal) => ok(api.GET('/admin/operations/chains', { signal })))
  useLooking(15_000, chains.reload)
  useLive(['chain.*', 'job.finished'], chains.reload)
  return (
    <Page title={t('title')}>
      <Loaded of={chains}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon="chain" title={t('none')} text={t('noneText')} />
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
                    <Facts
                      of={[
                        [t('head'), block(chain.head)],
                        [t('target'), block(chain.target)],
                        [t('cursor'), block(chain.countedTo)],
                        [t('lag'), block(chain.lag)],
                      ]}
                    />
                    <Facts
                      of={[
                        [t('synced'), chain.syncedAt && <When at={chain.syncedAt} short />],
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
                        { key: 'host', title: t('nodes'), main: true, cell: ({ host }) => <bdi>{host}</bdi> },
                        {
                          key: 'state',
                          title: common('status'),
                          cell: ({ state, restsUntil, inUse }) => (
                            <span class="row tight">
                              <State of={state} text={t(state)} tone={tones[state]} />
                              {inUse && <State of="ACTIVE" text={t('inUse')} tone="info" />}
                              {restsUntil && <small class="faint">{t('until', { at: moment(restsUntil) })}</small>}
                            </span>
                          ),
                        },
                        { key: 'failures', title: t('failures'), end: true, cell: ({ failures }) => number(failures) },
                      ]}
                    />
                  )}
                </Section>
              ))}
            </>
          )
        }
      </Loaded>
    </Page>
  )
}
