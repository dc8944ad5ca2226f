import { t } from 'elysia'
import { Instant, integer, nullable, oneOf } from '../../../http/schema.ts'

const Time = nullable(Instant)
const count = integer({ minimum: 0 })
const ageSeconds = nullable(integer({ minimum: 0 }))

export const BackupsRecord = t.Object(
  {
    asOf: Instant,
    state: oneOf(['on', 'off', 'server'], {
      description: '`off`: `BACKUP_ENABLED` is false. `server`: the database is a server, which has backups of its own.',
    }),
    isLate: t.Boolean({ description: 'Whether a place has gone without a backup for longer than `lateAfterHours`' }),
    lateAfterHours: count,
    nextAt: Time,
    last: nullable(
      t.Object(
        {
          at: Instant,
          ageSeconds: count,
          bytes: integer({ minimum: 0, description: 'Of the database in it' }),
          durationMs: nullable(count),
        },
        { description: 'The newest that is known of, wherever it lies' },
      ),
    ),
    failures: integer({ minimum: 0, description: 'Since the process began' }),
    places: t.Array(
      t.Object(
        {
          place: t.String(),
          isNamed: t.Boolean({ description: 'False: nobody has named a place, and it is the disk of the data' }),
          lastAt: nullable(
            t.String({ ...Instant, description: 'When the newest there was begun; null: there is none, or it is not known yet' }),
          ),
          ageSeconds,
          isLate: t.Boolean(),
          isRunning: t.Boolean(),
        },
        { title: 'BackupPlace' },
      ),
    ),
    database: nullable(
      t.Object({
        bytes: count,
        logBytes: integer({ minimum: 0, description: 'Of the write-ahead log beside it' }),
        isDamaged: nullable(t.Boolean({ description: 'By the last quick check; null before the first one' })),
      }),
    ),
    logShipping: t.Object({
      isOn: t.Boolean(),
      everySeconds: nullable(count),
      shippedAt: nullable(t.String({ ...Instant, description: 'Everything that was committed by then can be gone back to' })),
      ageSeconds,
      snapshotAt: Time,
      snapshots: integer({ minimum: 0, description: 'How often it began anew with a snapshot since the process began' }),
      failures: count,
    }),
  },
  { title: 'Backups' },
)
