import { t } from 'elysia'
import { serviceStates } from '../../../core/operations.ts'
import { fieldsOf, Instant, integer, nullable, oneOf } from '../../../http/schema.ts'

const answerFields = {
  asOf: t.String({ format: 'date-time', description: 'When the provider was last asked, ISO 8601, UTC', maxLength: 40 }),
  stale: t.Boolean({ description: 'True if the provider does not respond in time. This is its last valid response' }),
}
const count = (description: string) => integer({ minimum: 0, description })

export const Services = t.Object(
  {
    ...answerFields,
    services: t.Array(
      t.Object({
        service: t.String(),
        ...fieldsOf(count('Number of processes'), 'desired', 'running', 'pending'),
        revision: t.String({ description: 'Revision as the provider names it (ECS: task definition). `unknown` if it reports none' }),
        state: oneOf(serviceStates, {
          description: 'rolling: a deployment is in progress. degraded: too few processes run, or a deployment failed',
        }),
      }),
    ),
  },
  { title: 'Services' },
)

export const ErrorSummary = t.Object(
  {
    ...answerFields,
    windowHours: t.Literal(24),
    projects: t.Array(
      t.Object({
        project: t.String(),
        events: count('In the time window'),
        unresolved: count('Number of unresolved kinds of errors in the time window'),
        top: t.Array(t.Object({ ...fieldsOf(t.String(), 'id', 'title'), count: count('As counted by the provider'), lastSeen: Instant }), {
          description: 'The most frequent errors, at most five',
        }),
      }),
    ),
  },
  { title: 'ErrorSummary' },
)

export const Deploys = t.Object(
  {
    ...answerFields,
    deploys: t.Array(
      t.Object({
        ...fieldsOf(t.String(), 'service', 'environment', 'revision'),
        deployedAt: Instant,
        change: nullable(t.Object(fieldsOf(t.String(), 'sha', 'title', 'author', 'url'), { description: 'The deployed change' })),
      }),
    ),
  },
  { title: 'Deployments' },
)
