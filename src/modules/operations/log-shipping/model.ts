import { t } from 'elysia'
import { Instant, integer, nullable, oneOf } from '../../../http/schema.ts'

const Time = nullable(Instant)
const count = integer({ minimum: 0 })
const ageSeconds = nullable(integer({ minimum: 0 }))

export const BackupsRecord = t.Object(
  {
    asOf: Instant,
    state: oneOf(['on', 'off', 'server'], {
      description: '`off`: `BACKUP_ENABLED` is false. `server`: the database is a PostgreSQL server, which is backed up separately',
    }),
    isLate: t.Boolean({ description: 'Whether a location has had no backup for longer than `lateAfterHours`' }),
    lateAfterHours: count,
    nextAt: Time,
    last: nullable(
      t.Object(
        {
          at: Instant,
          ageSeconds: count,
          bytes: integer({ minimum: 0, description: 'Size of the database in it' }),
          durationMs: nullable(count),
        },
        { description: 'The newest known backup, in any location' },
      ),
    ),
    failures: integer({ minimum: 0, description: 'Since the process started' }),
    places: t.Array(
      t.Object(
        {
          place: t.String(),
          isNamed: t.Boolean({ description: 'False: no location is configured, and backups are on the same disk as the data' }),
          lastAt: nullable(
            t.String({ ...Instant, description: 'Start of the newest backup. Null: there is none, or it is not known yet' }),
          ),
          ageSeconds,
          isLate: t.Boolean(),
          isRunning: t.Boolean(),
        },
        { title: 'BackupLocation' },
      ),
    ),
    database: nullable(
      t.Object({
        bytes: count,
        logBytes: integer({ minimum: 0, description: 'Of the shipped write-ahead log' }),
        isDamaged: nullable(t.Boolean({ description: 'Result of the last quick check. Null before the first one' })),
      }),
    ),
    logShipping: t.Object({
      isOn: t.Boolean(),
      everySeconds: nullable(count),
      shippedAt: nullable(t.String({ ...Instant, description: 'The latest point in time that can be restored' })),
      ageSeconds,
      snapshotAt: Time,
      snapshots: integer({ minimum: 0, description: 'Number of restarts with a new snapshot since the process started' }),
      failures: count,
    }),
  },
  { title: 'Backups' },
)
