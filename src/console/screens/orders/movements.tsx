import type { ComponentChildren } from 'preact'
import type { Schema } from '../../lib/api/api.ts'
import { number } from '../../lib/format/format.ts'
import { processorName } from '../../lib/format/processor-names.ts'
import { serverNow } from '../../lib/format/server-clock.ts'
import type { Query } from '../../lib/navigation/query.ts'
import { mayManage } from '../../lib/session/current-shop.ts'
import { Copyable, Money, State, When } from '../../ui/bits.tsx'
import { ButtonLink } from '../../ui/button.tsx'
import { Section } from '../../ui/page.tsx'
import { w } from './i18n.ts'
import type { Order } from './kit.tsx'
import { maySettle } from './refund.domain.ts'

/** The money of an order: what came, what went back, and what a bank has taken. */
export const Movements = ({ of, query }: { of: Order; query: Query }) => (
  <>
    {of.payments.length > 0 && (
      <Section title={w('payments')}>
        <ol class="plain">
          {of.payments.map((payment) => (
            <PaymentOf key={payment.id} of={payment} />
          ))}
        </ol>
      </Section>
    )}
    {of.refunds.length > 0 && (
      <Section title={w('refunds')}>
        <ol class="plain">
          {of.refunds.map((refund) => (
            <RefundOf key={refund.id} of={refund} order={of} query={query} />
          ))}
        </ol>
      </Section>
    )}
    {of.disputes.length > 0 && (
      <Section title={w('disputes')} hint={w('disputesHint')}>
        <ol class="plain">
          {of.disputes.map(({ id, amount, status, reference, createdAt }) => (
            <Movement
              key={id}
              head={
                <>
                  <Money of={amount} />
                  <State of={status} />
                  <When at={createdAt} />
                </>
              }
            >
              <Copyable text={reference} label={w('reference')} />
            </Movement>
          ))}
        </ol>
      </Section>
    )}
  </>
)

const Movement = ({ head, children }: { head: ComponentChildren; children?: ComponentChildren }) => (
  <li class="movement">
    <header>{head}</header>
    {children}
  </li>
)

const methodName = (method: string) => {
  const key = `method.${method}`
  return w.has(key) ? w(key) : method
}

const PaymentOf = ({ of }: { of: Schema<'Payment'> }) => (
  <Movement
    head={
      <>
        <strong>
          <Money of={of.amount} />
        </strong>
        <bdi>{w('paidBy', { method: methodName(of.method), processor: processorName(of.processor) })}</bdi>
        <State of={of.status} />
        <When at={of.createdAt} />
      </>
    }
  >
    {of.failureCode && (
      <p>
        {w('failure')} <bdi>{of.failureCode}</bdi>
      </p>
    )}
    {of.refunded.amount > 0 && (
      <p class="faint">
        {w('refunded')}: <Money of={of.refunded} />
      </p>
    )}
    {of.processorReference && <Copyable text={of.processorReference} label={w('reference')} />}
  </Movement>
)

const RefundOf = ({ of, order, query }: { of: Schema<'Refund'>; order: Order; query: Query }) => (
  <Movement
    head={
      <>
        <strong>
          <Money of={of.amount} />
        </strong>
        {of.processor && <bdi>{processorName(of.processor)}</bdi>}
        <State of={of.status} />
        <When at={of.createdAt} />
      </>
    }
  >
    {of.reason && (
      <p>
        <bdi>{of.reason}</bdi>
      </p>
    )}
    {of.giftCardAmount.amount > 0 && (
      <p class="faint">
        {w('backToCards')}: <Money of={of.giftCardAmount} />
      </p>
    )}
    {of.lines.length > 0 && (
      <ul>
        {of.lines.map(({ lineId, quantity, restock, amount }) => (
          <li key={lineId}>
            {number(quantity)} × <bdi>{order.lines.find(({ id }) => id === lineId)?.title ?? lineId}</bdi> <Money of={amount} />
            {restock && <span class="faint"> {w('restocked')}</span>}
          </li>
        ))}
      </ul>
    )}
    {of.failureCode && (
      <p>
        {w('failure')} <bdi>{of.failureCode}</bdi>
      </p>
    )}
    {of.claimUrl && (
      <div>
        <p class="faint">{w('claimHint')}</p>
        <Copyable text={of.claimUrl} label={w('claimUrl')} />
      </div>
    )}
    {of.settledReference && (
      <p>
        {w('settledBy')} <bdi>{of.settledReference}</bdi>
      </p>
    )}
    {of.processorReference && <Copyable text={of.processorReference} label={w('reference')} />}
    {mayManage.value && maySettle(of, serverNow()) && (
      <div class="row">
        <ButtonLink kind={of.status === 'MANUAL' ? 'primary' : 'plain'} href={query.href({ do: 'settle', refund: of.id })}>
          {w('settle')}
        </ButtonLink>
      </div>
    )}
  </Movement>
)
