import { t } from 'elysia'
import { serviceStates } from '../../../core/operations.ts'
import { fieldsOf, Instant, integer, nullable, oneOf } from '../../../http/schema.ts'

const answerFields = {
  asOf: t.String({ format: 'date-time', description: 'When the provider was asked, ISO 8601, UTC', maxLength: 40 }),
  stale: t.Boolean({ description: 'The provider does not answer, or not in time: this is its last good answer' }),
}
const count = (description: string) => integer({ minimum: 0, description })

export const Services = t.Object(
  {
    ...answerFields,
    services: t.Array(
      t.Object({
        service: t.String(),
        ...fieldsOf(count('How many of it'), 'desired', 'running', 'pending'),
        revision: t.String({ description: "What runs, in the provider's words (ECS: the task definition); `unknown` where it tells none" }),
        state: oneOf(serviceStates, { description: 'rolling: being deployed; degraded: fewer run than are wanted, or a deploy failed' }),
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
        events: count('Of the window'),
        unresolved: count('Kinds of errors of the window that nobody has resolved'),
        top: t.Array(t.Object({ ...fieldsOf(t.String(), 'id', 'title'), count: count('As the provider counts'), lastSeen: Instant }), {
          description: 'The most frequent, five at most',
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
        change: nullable(t.Object(fieldsOf(t.String(), 'sha', 'title', 'author', 'url'), { description: 'The change that it shipped' })),
      }),
    ),
  },
  { title: 'Deploys' },
)
