import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { common } from '../../lib/i18n/common.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { canManage, shopPath } from '../../lib/session/current-shop.ts'
import { ButtonLink, CreateLink } from '../../ui/button.tsx'
import { CsvButton } from '../../ui/csv-button.tsx'
import { ListTable } from '../../ui/list-view.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Money } from '../../ui/money.tsx'
import { Note } from '../../ui/note.tsx'
import { EmptyState, Page } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import type { Column } from '../../ui/table.tsx'
import { cardState, cardTone } from './card.domain.ts'
import { t } from './i18n.ts'
import { IssueDialog } from './issue.tsx'

type Card = Schema<'GiftCard'>

export const CardStateBadge = ({ card }: { card: Card }) => {
  const state = cardState(card)
  return <StatusBadge status={state} text={t(`is.${state}`)} tone={cardTone[state]} />
}

const columns = (): readonly Column<Card>[] => [
  { title: common('card'), main: true, cell: ({ last4 }) => <code dir="ltr">…{last4}</code> },
  { title: common('status'), cell: (card) => <CardStateBadge card={card} /> },
  { title: common('note'), cell: ({ note }) => note && <bdi class="cut">{note}</bdi> },
  { title: t('issued'), cell: ({ createdAt }) => <Moment at={createdAt} relative /> },
  { title: common('expires'), cell: ({ expiresAt }) => (expiresAt ? <Moment at={expiresAt} /> : common('never')) },
  { title: t('initial'), alignEnd: true, cell: ({ initialAmount }) => <Money amount={initialAmount} /> },
  { title: common('moneyLeft'), alignEnd: true, cell: ({ balance }) => <Money amount={balance} /> },
]

export default function GiftCards() {
  const query = useQuery()
  const { customerId } = query.values
  const cards = useResource(JSON.stringify([customerId, query.page]), (signal) =>
    ok(api.GET('/giftcard', { params: { query: { ...(customerId && { customerId }), page: query.page } }, signal })),
  )
  useLiveReload(['order.*'], cards.reload)
  return (
    <Page
      title={common('giftCards')}
      actions={
        canManage.value && (
          <>
            <CsvButton path="/giftcard" query={{ customerId }} name="gift-cards" />
            <CreateLink href={query.href({ new: '1', page: query.values['page'] })} text={t('issue')} />
          </>
        )
      }
    >
      {customerId && (
        <Note>
          {t('ofOne')} <a href={shopPath('customers', customerId)}>{t('toCustomer')}</a> ·{' '}
          <a href={shopPath('gift-cards')}>{t('showAll')}</a>
        </Note>
      )}
      <ListTable
        resource={cards}
        query={query}
        empty={
          <EmptyState
            icon="gift"
            title={t('none')}
            text={t('noneText')}
            action={canManage.value && <ButtonLink href={query.href({ new: '1' })} text={t('issue')} />}
          />
        }
        caption={common('giftCards')}
        columns={columns()}
        href={({ id }) => shopPath('gift-cards', id)}
      />
      {query.values['new'] && canManage.value && (
        <IssueDialog
          customerId={query.values['customer'] ?? customerId}
          onIssued={cards.reload}
          onClose={() => query.set({ new: undefined, customer: undefined, page: query.values['page'] }, { replace: true })}
        />
      )}
    </Page>
  )
}
