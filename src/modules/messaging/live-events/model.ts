/** Schemas of streamed events, one per event. Their data is JSON in `data:`, and the OpenAPI document shows them. */
import { type TSchema, Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { Instant, integer, MoneySchema, nullable, oneOf } from '../../../http/schema.ts'
import { orderPaymentStatuses, orderStatuses } from '../../selling/order/domain.ts'
import { orderEventName, orderEventTypes, shopEventNames } from './domain.ts'

type NonEmptyStrings = [string, ...string[]]
const Id = t.Optional(
  t.String({ description: 'Where the stream is behind it, for `Last-Event-ID`: of events that were committed together the last has it' }),
)

/** @param names of the events with this schema */
const eventOf = (names: NonEmptyStrings, data: TSchema, title: string, description: string) =>
  t.Object({ event: oneOf(names), data, id: Id }, { title, description })

const at = { at: Instant }
const count = (description: string) => integer({ minimum: 0, description })
const orderNames = [...new Set(orderEventTypes.map(orderEventName))] as NonEmptyStrings

const variantFields = { productId: t.String(), variantId: t.String(), onHand: integer(), reserved: integer() }
const importFields = { importId: t.String(), kind: oneOf(['products', 'customers']) }
const fileFields = { bytes: count('Of the file'), bytesRead: count('Of the file, read so far') }
const rowFields = { rows: count('Stored or refused so far'), failed: count('Products, or customers, that were refused so far') }

const shopEvents = [
  eventOf(
    orderNames,
    t.Object({
      orderId: t.String(),
      number: integer({ minimum: 1 }),
      status: oneOf(orderStatuses as unknown as NonEmptyStrings, { description: 'As it is by now' }),
      paymentStatus: oneOf(orderPaymentStatuses, { description: 'As it is by now' }),
      fulfilmentStatus: oneOf(['UNFULFILLED', 'PARTIALLY_FULFILLED', 'FULFILLED'], { description: 'As it is by now' }),
      mode: oneOf(['TEST', 'LIVE']),
      total: MoneySchema,
      amount: t.Optional(t.Object(MoneySchema.properties, { description: 'Of the payment, the refund or the dispute' })),
      paymentId: t.Optional(t.String()),
      refundId: t.Optional(t.String()),
      disputeId: t.Optional(t.String()),
      fulfilmentId: t.Optional(t.String()),
      ...at,
    }),
    'OrderEvent',
    'Something happened to an order. For every role, and the secret key',
  ),
  eventOf(
    ['stock.changed'],
    t.Object({
      ...variantFields,
      available: integer({ description: 'On hand and promised to nobody; may be below 0 where it may be ordered ahead' }),
      orderId: nullable(t.String({ description: 'The order that changed it last; null: it was changed by hand' })),
      ...at,
    }),
    'StockChangedEvent',
    'The stock of a variant changed; the figures are as they are by now, and several changes at once are one event. An import tells of itself instead. For OWNER, MANAGER, READ_ONLY and the secret key',
  ),
  eventOf(
    ['stock.low'],
    t.Object({ ...variantFields, lowStockAt: integer(), ...at }),
    'StockLowEvent',
    'There are few of a variant since just now. For OWNER, MANAGER, READ_ONLY and the secret key',
  ),
  eventOf(
    ['import.started'],
    t.Object({ ...importFields, dryRun: t.Boolean(), bytes: fileFields.bytes, ...at }),
    'ImportStartedEvent',
    'A CSV is being imported, over HTTP or by a command. For OWNER, MANAGER, READ_ONLY and the secret key',
  ),
  eventOf(
    ['import.progress'],
    t.Object({ ...importFields, ...fileFields, ...rowFields, ...at }),
    'ImportProgressEvent',
    'How far an import has come, once a second at most',
  ),
  eventOf(
    ['import.finished'],
    t.Object({
      ...importFields,
      result: oneOf(['DONE', 'STOPPED', 'REFUSED'], {
        description:
          'STOPPED: its client left, its time was over or its process ended (told within a quarter of an hour, with what was told last), and what was stored stays; REFUSED: the file as a whole',
      }),
      ...{ ...rowFields, created: count('Products, or customers'), updated: count('The same'), skipped: count('The same') },
      ...at,
    }),
    'ImportFinishedEvent',
    'An import has ended. The answer of its request has the errors by row',
  ),
  eventOf(
    [...shopEventNames],
    t.Object({ shopId: t.String(), ...at }),
    'ShopEvent',
    'The shop itself is another than it was: its facts were changed, or it was verified, went live, was suspended or restored. For every role, and the secret key',
  ),
] as const

const resyncEvent = eventOf(
  ['resync'],
  t.Object({}),
  'ResyncEvent',
  'Nobody can say what happened since the `Last-Event-ID`: it is older than an hour, of another instance or none of ours, or too much has happened; or somebody of the shop has had another role since, or left. Read anew what you show, and what you may; the stream goes on',
)

/** Operators' events that come from the audit trail. */
export const auditNames = [
  'kyb.filed',
  'kyb.approved',
  'kyb.rejected',
  'lending.drafted',
  'lending.changed',
  'lending.submitted',
  'lending.withdrawn',
  'lending.approved',
  'lending.declined',
  'lending_document.uploaded',
  'lending_document.removed',
  'shop.suspended',
  'shop.restored',
  'shop.verified',
  'shop.went_live',
  'merchant.created',
  'job.requested',
  'breaker.isolated',
  'breaker.restored',
] as const

const operatorEvents = [
  eventOf(
    ['order.confirmed'],
    t.Object({ count: integer({ minimum: 1, description: 'Of all shops, test orders included, since the last of these events' }), ...at }),
    'OrdersConfirmedEvent',
    'Orders became sales',
  ),
  eventOf(
    [...auditNames],
    t.Object({
      subject: t.String({ description: 'The id of the record, or the name of the job or the processor' }),
      shopId: nullable(t.String()),
      ...at,
    }),
    'RecordedEvent',
    'Something was done that is on the audit trail',
  ),
  eventOf(
    ['job.started'],
    t.Object({ job: t.String(), ...at }),
    'JobStartedEvent',
    'A run began that was asked for, or of a job that runs seldom',
  ),
  eventOf(
    ['job.finished'],
    t.Object({
      job: t.String(),
      result: oneOf(['OK', 'FAILED', 'SKIPPED', 'LOST'], { description: 'LOST: its process ended before it did' }),
      durationMs: nullable(count('Of the run; null of one that was lost')),
      ...at,
    }),
    'JobFinishedEvent',
    'Such a run ended; of other jobs, when a run came to something else than the one before',
  ),
  eventOf(
    ['breaker.opened', 'breaker.closed'],
    t.Object({ processor: t.String(), host: t.String(), ...at }),
    'BreakerEvent',
    'A process found that a payment processor does not answer, or does again',
  ),
] as const

const streamOf = (events: readonly TSchema[], description: string) =>
  Type.Union([...events, resyncEvent], { contentMediaType: 'text/event-stream', description })

export const ShopEvents = streamOf(shopEvents, 'Server-sent events, until one side ends the connection')
export const OperatorEvents = streamOf(operatorEvents, 'Server-sent events, until one side ends the connection')
