import { useState } from 'preact/hooks'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useIntention } from '../../lib/api/pending-sends.ts'
import { useResource } from '../../lib/api/resource.ts'
import { bytes, duration, number } from '../../lib/format/format.ts'
import { c } from '../../lib/i18n/common.ts'
import { useLive, useLooking } from '../../lib/live/live-events.ts'
import { notify } from '../../lib/live/toasts.ts'
import { AsOf, Facts, Note, State, When } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Loaded, Page, Section } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { w } from './i18n.ts'

const when = (at: string | null) => at && <When at={at} short />

/** That one is late, nothing tells; one that somebody waits for is looked at until it is over. */
const looksMs = 60_000
const awaitedMs = 1_500

/** What is another once a backup has ended, well or not. */
const endOf = ({ last, failures }: Schema<'Backups'>): string => `${last?.at} ${failures}`

export default function Backups() {
  const backups = useResource('backups', (signal) => ok(api.GET('/admin/operations/backups', { signal })))
  const once = useIntention()
  const [asked, setAsked] = useState<string | undefined>(undefined)
  const held = backups.data.value
  const isAwaited = held !== undefined && endOf(held) === asked
  useLive(['job.*', 'backup.*'], backups.reload)
  useLooking(isAwaited ? awaitedMs : looksMs, backups.reload)
  async function now(): Promise<void> {
    let before: string | undefined
    await once(
      'back-up',
      (key, seen) => {
        before = seen
        return ok(
          api.POST('/admin/operations/jobs/{job}/run', { params: { path: { job: 'back-up' }, header: { 'idempotency-key': key } } }),
        )
      },
      () => held && endOf(held),
    )
    // Where an earlier try had asked for it, what has ended since may be the one that is waited for.
    setAsked(before)
    notify(w('asked'))
    await backups.reload()
  }
  return (
    <Page
      title={w('title')}
      actions={
        held?.state === 'on' && (
          <Button busy={isAwaited} onPress={now}>
            {w('now')}
          </Button>
        )
      }
    >
      <Loaded of={backups}>
        {({ asOf, state, isLate, lateAfterHours, nextAt, last, failures, places, database, logShipping }) => (
          <>
            <AsOf at={asOf} />
            {isAwaited && (
              <p role="status">
                <State of="PENDING" text={w('running')} tone="info" />
              </p>
            )}
            {state === 'off' && <Note tone="bad">{w('off')}</Note>}
            {state === 'server' && <Note>{w('server')}</Note>}
            {isLate && (
              <Note tone="bad">
                <strong>{w('late')}</strong> {w('lateText', { n: lateAfterHours })}
              </Note>
            )}
            {database?.isDamaged && <Note tone="bad">{w('damaged')}</Note>}
            <div class="grid">
              <Section title={w('last')}>
                <Facts
                  of={[
                    [w('last'), last ? <When at={last.at} /> : w('never')],
                    [w('size'), last && bytes(last.bytes)],
                    [w('took'), last?.durationMs != null && duration(last.durationMs)],
                    [w('next'), when(nextAt)],
                    [w('failures'), number(failures)],
                  ]}
                />
              </Section>
              {database && (
                <Section title={w('database')}>
                  <Facts
                    of={[
                      [w('size'), bytes(database.bytes)],
                      [w('log'), bytes(database.logBytes)],
                      ...(database.isDamaged === false ? ([['', <State key="intact" of="ACTIVE" text={w('intact')} />]] as const) : []),
                    ]}
                  />
                </Section>
              )}
              <Section title={w('shipping')}>
                <Facts
                  of={[
                    [w('shipping'), logShipping.isOn ? w('every', { n: logShipping.everySeconds ?? 0 }) : c('off')],
                    [w('shipped'), when(logShipping.shippedAt)],
                    [w('snapshots'), number(logShipping.snapshots)],
                    [w('failures'), number(logShipping.failures)],
                  ]}
                />
              </Section>
            </div>
            {places.length > 0 && (
              <Section title={w('places')}>
                <Table
                  caption={w('places')}
                  rows={places}
                  rowKey={({ place }) => place}
                  columns={[
                    { key: 'place', title: w('place'), main: true, cell: ({ place }) => <bdi>{place}</bdi> },
                    { key: 'age', title: w('age'), cell: ({ lastAt }) => (lastAt ? <When at={lastAt} short /> : w('never')) },
                    {
                      key: 'state',
                      title: c('status'),
                      cell: ({ isLate: late, isRunning }) => (
                        <span class="row tight">
                          {isRunning && <State of="PENDING" text={w('running')} tone="info" />}
                          {late && <State of="FAILED" text={w('late')} tone="bad" />}
                        </span>
                      ),
                    },
                  ]}
                />
              </Section>
            )}
          </>
        )}
      </Loaded>
    </Page>
  )
}
