import { useState } from 'preact/hooks'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { useResource } from '../../lib/api/resource.ts'
import { bytes, duration, number } from '../../lib/format/format.ts'
import { common } from '../../lib/i18n/common.ts'
import { useLiveReload, useVisibleInterval } from '../../lib/live/live-events.ts'
import { notify } from '../../lib/live/toasts.ts'
import { Button } from '../../ui/button.tsx'
import { FactList } from '../../ui/fact-list.tsx'
import { Moment } from '../../ui/moment.tsx'
import { AsOfNote, Note } from '../../ui/note.tsx'
import { Page, ResourceView, Section } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { Table } from '../../ui/table.tsx'
import { t } from './i18n.ts'

const relativeTime = (at: string | null) => at && <Moment at={at} relative />

/** A late backup sends no event. A requested one is polled until it ends. */
const pollMs = 60_000
const pollRunningMs = 1_500

/** Changes when a backup ends, with success or not. */
const runKey = ({ last, failures }: Schema<'Backups'>): string => `${last?.at} ${failures}`

export default function Backups() {
  const backups = useResource('backups', (signal) => ok(api.GET('/admin/operations/backups', { signal })))
  const sendOnce = useIdempotentSend()
  const [requestedKey, setRequestedKey] = useState<string | undefined>(undefined)
  const current = backups.data.value
  const isRequested = current !== undefined && runKey(current) === requestedKey
  useLiveReload(['job.*', 'backup.*'], backups.reload)
  useVisibleInterval(isRequested ? pollRunningMs : pollMs, backups.reload)
  async function backUp(): Promise<void> {
    let keyAtRequest: string | undefined
    await sendOnce(
      'back-up',
      (header, runKeyBefore) => {
        keyAtRequest = runKeyBefore
        return ok(api.POST('/admin/operations/jobs/{job}/run', { params: { path: { job: 'back-up' }, header } }))
      },
      () => current && runKey(current),
    )
    // If an earlier attempt requested the backup, it may have ended since.
    setRequestedKey(keyAtRequest)
    notify(t('asked'))
    await backups.reload()
  }
  return (
    <Page title={common('backups')} actions={current?.state === 'on' && <Button busy={isRequested} onPress={backUp} text={t('now')} />}>
      <ResourceView resource={backups}>
        {({ asOf, state, isLate, lateAfterHours, nextAt, last, failures, places, database, logShipping }) => (
          <>
            <AsOfNote at={asOf} />
            {isRequested && (
              <p role="status">
                <StatusBadge status="PENDING" text={t('running')} tone="info" />
              </p>
            )}
            {state === 'off' && <Note tone="bad">{t('off')}</Note>}
            {state === 'server' && <Note>{t('server')}</Note>}
            {isLate && (
              <Note tone="bad">
                <strong>{t('late')}</strong> {t('lateText', { n: lateAfterHours })}
              </Note>
            )}
            {database?.isDamaged && <Note tone="bad">{t('damaged')}</Note>}
            <div class="grid">
              <Section title={t('last')}>
                <FactList
                  facts={[
                    [t('last'), last ? <Moment at={last.at} /> : common('never')],
                    [common('size'), last && bytes(last.bytes)],
                    [t('took'), last?.durationMs != null && duration(last.durationMs)],
                    [t('next'), relativeTime(nextAt)],
                    [t('failures'), number(failures)],
                  ]}
                />
              </Section>
              {database && (
                <Section title={t('database')}>
                  <FactList
                    facts={[
                      [common('size'), bytes(database.bytes)],
                      [t('log'), bytes(database.logBytes)],
                      ...(database.isDamaged === false
                        ? ([['', <StatusBadge key="intact" status="ACTIVE" text={t('intact')} />]] as const)
                        : []),
                    ]}
                  />
                </Section>
              )}
              <Section title={t('shipping')}>
                <FactList
                  facts={[
                    [t('shipping'), logShipping.isOn ? t('every', { n: logShipping.everySeconds ?? 0 }) : common('off')],
                    [t('shipped'), relativeTime(logShipping.shippedAt)],
                    [t('snapshots'), number(logShipping.snapshots)],
                    [t('failures'), number(logShipping.failures)],
                  ]}
                />
              </Section>
            </div>
            {places.length > 0 && (
              <Section title={t('places')}>
                <Table
                  caption={t('places')}
                  rows={places}
                  rowKey={({ place }) => place}
                  columns={[
                    { title: t('place'), main: true, cell: ({ place }) => <bdi>{place}</bdi> },
                    { title: t('age'), cell: ({ lastAt }) => (lastAt ? <Moment at={lastAt} relative /> : common('never')) },
                    {
                      title: common('status'),
                      cell: ({ isLate: late, isRunning }) => (
                        <span class="row tight">
                          {isRunning && <StatusBadge status="PENDING" text={t('running')} tone="info" />}
                          {late && <StatusBadge status="FAILED" text={t('late')} tone="bad" />}
                        </span>
                      ),
                    },
                  ]}
                />
              </Section>
            )}
          </>
        )}
      </ResourceView>
    </Page>
  )
}
