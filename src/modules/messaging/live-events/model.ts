/** Schemas of streamed events, one per event. Their data is JSON in `data:`, and the OpenAPI document shows them. */
import { type TSchema, Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { Instant, integer, MoneySchema, nullable, oneOf } from '../../../http/schema.ts'
import { orderPaymentStatuses, orderStatuses } from '../../selling/order/domain.ts'
import { orderEventName, orderEventTypes, shopEventNames } from './domain.ts'

type NonEmptyStrings = [string, ...string[]]
const Id = t.Optional(
  t.String({
    description:
      'Position of the stream after this event, for `Last-Event-ID`. Of events that were committed together, only the last has one',
  }),
)

/** @param names of the events with this schema */
const eventOf = (names: NonEmptyStrings, data: TSchema, title: string, description: string) =>
  t.Object({ event: oneOf(names), data, id: Id }, { title, description })

const at = { at: Instant }
const count = (description: string) => integer({ minimum: 0, description })
const orderNames = [...new Set(orderEventTypes.map(orderEventName))] as NonEmptyStrings

const variantFields = { productId: t.String(), variantId: t.String(), onHand: integer(), reserved: integer() }
const importFields = { importId: t.String(), kind: oneOf(['products', 'customers']) }
const fileFields = { bytes: count('Size of the file'), bytesRead: count('Bytes read so far') }
const rowFields = { rows: count('Rows stored or rejected so far'), failed: count('Products or customers rejected so far') }

const shopEvents = [
  eventOf(
    orderNames,
    t.Object({
      orderId: t.String(),
      number: integer({ minimum: 1 }),
      status: oneOf(orderStatuses as unknown as NonEmptyStrings, { description: 'Current value' }),
      paymentStatus: oneOf(orderPaymentStatuses, { description: 'Current value' }),
      fulfilmentStatus: oneOf(['UNFULFILLED', 'PARTIALLY_FULFILLED', 'FULFILLED'], { description: 'Current value' }),
      mode: oneOf(['TEST', 'LIVE']),
      total: MoneySchema,
      amount: t.Optional(t.Object(MoneySchema.properties, { description: 'Of the payment, refund or dispute' })),
      paymentId: t.Optional(t.String()),
      refundId: t.Optional(t.String()),
      disputeId: t.Optional(t.String()),
      fulfilmentId: t.Optional(t.String()),
      ...at,
    }),
    'OrderEvent',
    'An order changed. For every role and the secret key',
  ),
  eventOf(
    ['stock.changed'],
    t.Object({
      ...variantFields,
      available: integer({ description: 'Units on hand that are not reserved. Negative if there are backorders' }),
      orderId: nullable(t.String({ description: 'The order that made the last change. Null: a person or import made it' })),
      ...at,
    }),
    'StockChangedEvent',
    'The stock of a variant changed. Values are current, and one event may stand for several changes. Imports send their own events. For OWNER, MANAGER, READ_ONLY and the secret key',
  ),
  eventOf(
    ['stock.low'],
    t.Object({ ...variantFields, lowStockAt: integer(), ...at }),
    'StockLowEvent',
    'The stock of a variant became low. For OWNER, MANAGER, READ_ONLY and the secret key',
  ),
  eventOf(
    ['import.started'],
    t.Object({ ...importFields, dryRun: t.Boolean(), bytes: fileFields.bytes, ...at }),
    'ImportStartedEvent',
    'A CSV import started, by a request or a command. For OWNER, MANAGER, READ_ONLY and the secret key',
  ),
  eventOf(
    ['import.progress'],
    t.Object({ ...importFields, ...fileFields, ...rowFields, ...at }),
    'ImportProgressEvent',
    'Progress of an import, at most once a second',
  ),
  eventOf(
    ['import.finished'],
    t.Object({
      ...importFields,
      result: oneOf(['DONE', 'STOPPED', 'REFUSED'], {
        description:
          'STOPPED: the client disconnected, the time limit was reached or the process ended (reported within 15 minutes, with the last progress); stored records remain. REFUSED: the whole file was rejected',
      }),
      ...{
        ...rowFields,
        created: count('Number of products or customers'),
        updated: count('Number of products or customers'),
        skipped: count('Number of products or customers'),
      },
      ...at,
    }),
    'ImportFinishedEvent',
    'An import ended. The response of its request lists the errors by row',
  ),
  eventOf(
    [...shopEventNames],
    t.Object({ shopId: t.String(), ...at }),
    'ShopEvent',
    'The shop changed: its settings were updated, or it was verified, went live, was suspended or restored. For every role and the secret key',
  ),
] as const

const resyncEvent = eventOf(
  ['resync'],
  t.Object({}),
  'ResyncEvent',
  'Events were missed, because the `Last-Event-ID` is older than an hour, unknown or too far behind, or because the role of a staff member changed. Reload what you show. The stream continues',
)

/** Operators' events that come from the audit trail. */
const auditNames = [
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
  'shop.created',
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
    t.Object({
      count: integer({ minimum: 1, description: 'Number in all shops, including test orders, since the previous event' }),
      ...at,
    }),
    'OrdersConfirmedEvent',
    'Orders were confirmed',
  ),
  eventOf(
    [...auditNames],
    t.Object({
      subject: t.String({ description: 'Id of the record, or name of the job or processor' }),
      shopId: nullable(t.String()),
      ...at,
    }),
    'RecordedEvent',
    'An action was recorded in the audit trail',
  ),
  eventOf(
    ['job.started'],
    t.Object({ job: t.String(), ...at }),
    'JobStartedEvent',
    'A job started that was requested, or that runs rarely',
  ),
  eventOf(
    ['job.finished'],
    t.Object({
      job: t.String(),
      result: oneOf(['OK', 'FAILED', 'SKIPPED', 'LOST'], { description: 'LOST: the process ended during the run' }),
      durationMs: nullable(count('Duration of the run. Null if it was lost')),
      ...at,
    }),
    'JobFinishedEvent',
    'Such a job ended. For other jobs: a run had another result than the previous one',
  ),
  eventOf(
    ['breaker.opened', 'breaker.closed'],
    t.Object({ processor: t.String(), host: t.String(), ...at }),
    'BreakerEvent',
    'A process found that a payment processor stopped or resumed responding',
  ),
] as const

const streamOf = (events: readonly TSchema[]) =>
  Type.Union([...events, resyncEvent], {
    contentMediaType: 'text/event-stream',
    description: 'Server-sent events, until one side closes the connection',
  })

export const ShopEvents = streamOf(shopEvents)
export const OperatorEvents = streamOf(operatorEvents)
