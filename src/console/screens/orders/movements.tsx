import type { ComponentChildren } from 'preact'
import type { Schema } from '../../lib/api/api.ts'
import { number } from '../../lib/format/format.ts'
import { processorName } from '../../lib/format/processor-names.ts'
import { serverNow } from '../../lib/format/server-clock.ts'
import { common } from '../../lib/i18n/common.ts'
import type { Query } from '../../lib/navigation/query.ts'
import { mayManage } from '../../lib/session/current-shop.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { CopyableText } from '../../ui/copyable-text.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Money } from '../../ui/money.tsx'
import { Section } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { t } from './i18n.ts'
import type { Order } from './order-types.ts'
import { maySettle } from './refund.domain.ts'

/** Payments, refunds and disputes of an order. */
export const MoneyMovements = ({ of, query }: { of: Order; query: Query }) => (
  <>
    {of.payments.length > 0 && (
      <Section title={common('payments')}>
        <ol class="plain">
          {of.payments.map((payment) => (
            <PaymentItem key={payment.id} of={payment} />
          ))}
        </ol>
      </Section>
    )}
    {of.refunds.length > 0 && (
      <Section title={common('refunds')}>
        <ol class="plain">
          {of.refunds.map((refund) => (
            <RefundItem key={refund.id} of={refund} order={of} query={query} />
          ))}
        </ol>
      </Section>
    )}
    {of.disputes.length > 0 && (
      <Section title={t('disputes')} hint={t('disputesHint')}>
        <ol class="plain">
          {of.disputes.map(({ id, amount, status, reference, createdAt }) => (
            <Movement
              key={id}
              head={
                <>
                  <Money of={amount} />
                  <StatusBadge of={status} />
                  <Moment at={createdAt} />
                </>
              }
            >
              <CopyableText text={reference} label={t('reference')} />
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
  return t.has(key) ? t(key) : method
}

const PaymentItem = ({ of }: { of: Schema<'Payment'> }) => (
  <Movement
    head={
      <>
        <strong>
          <Money of={of.amount} />
        </strong>
        <bdi>{of.manual?.title ?? t('paidBy', { method: methodName(of.method), processor: processorName(of.processor) })}</bdi>
        <StatusBadge of={of.status} {...(of.status === 'CAPTURED' ? { text: t('payment.CAPTURED') } : {})} />
        <Moment at={of.createdAt} />
      </>
    }
  >
    {of.failureCode && (
      <p>
        {t('failure')} <bdi>{of.failureCode}</bdi>
      </p>
    )}
    {of.refunded.amount > 0 && (
      <p class="faint">
        {common('refunded')}: <Money of={of.refunded} />
      </p>
    )}
    {of.processorReference && <CopyableText text={of.processorReference} label={t('reference')} />}
  </Movement>
)

const RefundItem = ({ of, order, query }: { of: Schema<'Refund'>; order: Order; query: Query }) => (
  <Movement
    head={
      <>
        <strong>
          <Money of={of.amount} />
        </strong>
        {of.processor && <bdi>{processorName(of.processor)}</bdi>}
        <StatusBadge of={of.status} />
        <Moment at={of.createdAt} />
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
        {t('backToCards')}: <Money of={of.giftCardAmount} />
      </p>
    )}
    {of.lines.length > 0 && (
      <ul>
        {of.lines.map(({ lineId, quantity, restock, amount }) => (
          <li key={lineId}>
            {number(quantity)} × <bdi>{order.lines.find(({ id }) => id === lineId)?.title ?? lineId}</bdi> <Money of={amount} />
            {restock && <span class="faint"> {t('restocked')}</span>}
          </li>
        ))}
      </ul>
    )}
    {of.failureCode && (
      <p>
        {t('failure')} <bdi>{of.failureCode}</bdi>
      </p>
    )}
    {of.claimUrl && (
      <div>
        <p class="faint">{t('claimHint')}</p>
        <CopyableText text={of.claimUrl} label={t('claimUrl')} />
      </div>
    )}
    {of.settledReference && (
      <p>
        {t('settledBy')} <bdi>{of.settledReference}</bdi>
      </p>
    )}
    {of.processorReference && <CopyableText text={of.processorReference} label={t('reference')} />}
    {mayManage.value && maySettle(of, serverNow()) && (
      <div class="row">
        <ButtonLink
          kind={of.status === 'MANUAL' ? 'primary' : 'plain'}
          href={query.href({ do: 'settle', refund: of.id })}
          text={t('settle')}
        />
      </div>
    )}
  </Movement>
)
