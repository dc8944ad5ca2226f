import { api, ok } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { moment, number } from '../../lib/format/format.ts'
import { c } from '../../lib/i18n/common.ts'
import { useLive, useLooking } from '../../lib/live/live-events.ts'
import { Facts, Note, State, When } from '../../ui/bits.tsx'
import { Empty, Loaded, Page, Section } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { w } from './i18n.ts'

const tones = { ready: 'good', resting: 'warn', failing: 'bad' } as const

/** A block's number, where it is known. */
const block = (at: number | null) => (at === null ? '–' : number(at))

export default function Chains() {
  const chains = useResource('chains', (signal) => ok(api.GET('/admin/operations/chains', { signal })))
  useLooking(15_000, chains.reload)
  useLive(['chain.*', 'job.finished'], chains.reload)
  return (
    <Page title={w('title')}>
      <Loaded of={chains}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon="chain" title={w('none')} text={w('noneText')} />
          ) : (
            <>
              {data.map((chain) => (
                <Section key={chain.chainId} title={w('chain', { id: String(chain.chainId) })}>
                  {chain.haltedBecause && (
                    <Note tone="bad">
                      <strong>{w('halted')}</strong> <bdi>{chain.haltedBecause}</bdi>
                    </Note>
                  )}
                  {!chain.isConfigured && <Note tone="warn">{w('notConfigured')}</Note>}
                  <div class="grid">
                    <Facts
                      of={[
                        [w('head'), block(chain.head)],
                        [w('target'), block(chain.target)],
                        [w('cursor'), block(chain.countedTo)],
                        [w('lag'), block(chain.lag)],
                      ]}
                    />
                    <Facts
                      of={[
                        [w('synced'), chain.syncedAt && <When at={chain.syncedAt} short />],
                        [w('provider'), chain.provider && <bdi>{chain.provider}</bdi>],
                        [w('contract'), <code key="contract">{chain.contract}</code>],
                        [w('rescan'), block(chain.rescan.readTo)],
                        ...(chain.backfills > 0 ? ([[w('backfills'), number(chain.backfills)]] as const) : []),
                      ]}
                    />
                  </div>
                  {chain.lastError && (
                    <Note tone="warn">
                      <strong>{w('error')}</strong> {chain.lastErrorAt && moment(chain.lastErrorAt)} <bdi>{chain.lastError}</bdi>
                    </Note>
                  )}
                  {chain.nodes.length > 0 && (
                    <Table
                      caption={w('nodes')}
                      rows={chain.nodes}
                      rowKey={({ host }) => host}
                      columns={[
                        { key: 'host', title: w('nodes'), main: true, cell: ({ host }) => <bdi>{host}</bdi> },
                        {
                          key: 'state',
                          title: c('status'),
                          cell: ({ state, restsUntil, inUse }) => (
                            <span class="row tight">
                              <State of={state} text={w(state)} tone={tones[state]} />
                              {inUse && <State of="ACTIVE" text={w('inUse')} tone="info" />}
                              {restsUntil && <small class="faint">{w('until', { at: moment(restsUntil) })}</small>}
                            </span>
                          ),
                        },
                        { key: 'failures', title: w('failures'), end: true, cell: ({ failures }) => number(failures) },
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
