import type { ComponentChildren } from 'preact'
import type { Schema } from '../../lib/api/api.ts'
import { number } from '../../lib/format/format.ts'
import { processorName } from '../../lib/format/processor-names.ts'
import { serverNow } from '../../lib/format/server-clock.ts'
import { common } from '../../lib/i18n/common.ts'
import type { Query } from '../../lib/navigation/query.ts'
import { canManage } from '../../lib/session/current-shop.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { CopyableText } from '../../ui/copyable-text.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Money } from '../../ui/money.tsx'
import { Section } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { t } from './i18n.ts'
import type { Order } from './order-types.ts'
import { canSettle } from './refund.domain.ts'

/** Payments, refunds and disputes of an order. */
export const MoneyMovements = ({ order, query }: { order: Order; query: Query }) => (
  <>
    {order.payments.length > 0 && (
      <Section title={common('payments')}>
        <ol class="plain">
          {order.payments.map((payment) => (
            <PaymentItem key={payment.id} payment={payment} />
          ))}
        </ol>
      </Section>
    )}
    {order.refunds.length > 0 && (
      <Section title={common('refunds')}>
        <ol class="plain">
          {order.refunds.map((refund) => (
            <RefundItem key={refund.id} refund={refund} order={order} query={query} />
          ))}
        </ol>
      </Section>
    )}
    {order.disputes.length > 0 && (
      <Section title={t('disputes')} hint={t('disputesHint')}>
        <ol class="plain">
          {order.disputes.map(({ id, amount, status, reference, createdAt }) => (
            <Movement
              key={id}
              header={
                <>
                  <Money amount={amount} />
                  <StatusBadge status={status} />
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

const Movement = ({ header, children }: { header: ComponentChildren; children?: ComponentChildren }) => (
  <li class="movement">
    <header>{header}</header>
    {children}
  </li>
)

const methodName = (method: string): string => t.find(`method.${method}`) ?? method

const PaymentItem = ({ payment }: { payment: Schema<'Payment'> }) => (
  <Movement
    header={
      <>
        <strong>
          <Money amount={payment.amount} />
        </strong>
        <bdi>
          {payment.manual?.title ?? t('paidBy', { method: methodName(payment.method), processor: processorName(payment.processor) })}
        </bdi>
        <StatusBadge status={payment.status} {...(payment.status === 'CAPTURED' ? { text: t('payment.CAPTURED') } : {})} />
        <Moment at={payment.createdAt} />
      </>
    }
  >
    {payment.failureCode && (
      <p>
        {t('failure')} <bdi>{payment.failureCode}</bdi>
      </p>
    )}
    {payment.refunded.amount > 0 && (
      <p class="faint">
        {common('refunded')}: <Money amount={payment.refunded} />
      </p>
    )}
    {payment.processorReference && <CopyableText text={payment.processorReference} label={t('reference')} />}
  </Movement>
)

const RefundItem = ({ refund, order, query }: { refund: Schema<'Refund'>; order: Order; query: Query }) => (
  <Movement
    header={
      <>
        <strong>
          <Money amount={refund.amount} />
        </strong>
        {refund.processor && <bdi>{processorName(refund.processor)}</bdi>}
        <StatusBadge status={refund.status} />
        <Moment at={refund.createdAt} />
      </>
    }
  >
    {refund.reason && (
      <p>
        <bdi>{refund.reason}</bdi>
      </p>
    )}
    {refund.giftCardAmount.amount > 0 && (
      <p class="faint">
        {t('backToCards')}: <Money amount={refund.giftCardAmount} />
      </p>
    )}
    {refund.lines.length > 0 && (
      <ul>
        {refund.lines.map(({ lineId, quantity, restock, amount }) => (
          <li key={lineId}>
            {number(quantity)} × <bdi>{order.lines.find(({ id }) => id === lineId)?.title ?? lineId}</bdi> <Money amount={amount} />
            {restock && <span class="faint"> {t('restocked')}</span>}
          </li>
        ))}
      </ul>
    )}
    {refund.failureCode && (
      <p>
        {t('failure')} <bdi>{refund.failureCode}</bdi>
      </p>
    )}
    {refund.claimUrl && (
      <div>
        <p class="faint">{t('claimHint')}</p>
        <CopyableText text={refund.claimUrl} label={t('claimUrl')} />
      </div>
    )}
    {refund.settledReference && (
      <p>
        {t('settledBy')} <bdi>{refund.settledReference}</bdi>
      </p>
    )}
    {refund.processorReference && <CopyableText text={refund.processorReference} label={t('reference')} />}
    {canManage.value && canSettle(refund, serverNow()) && (
      <div class="row">
        <ButtonLink
          kind={refund.status === 'MANUAL' ? 'primary' : 'plain'}
          href={query.href({ do: 'settle', refund: refund.id })}
          text={t('settle')}
        />
      </div>
    )}
  </Movement>
)
