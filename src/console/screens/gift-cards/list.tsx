import { api, ok, pathWith, type Schema } from '../../lib/api/api.ts'
import { download } from '../../lib/api/download.ts'
import { useResource } from '../../lib/api/resource.ts'
import { common } from '../../lib/i18n/common.ts'
import { useLive } from '../../lib/live/live-events.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { at, mayManage } from '../../lib/session/current-shop.ts'
import { Money, Note, State, When } from '../../ui/bits.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { LoadedList } from '../../ui/list.tsx'
import { Empty, Page } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { cardState, cardTone } from './card.domain.ts'
import { t } from './i18n.ts'
import { Issue } from './issue.tsx'

type Card = Schema<'GiftCard'>

export const CardStateOf = ({ of }: { of: Card }) => {
  const state = cardState(of)
  return <State of={state} text={t(`is.${state}`)} tone={cardTone[state]} />
}

const columns = (): readonly Column<Card>[] => [
  { key: 'card', title: t('card'), main: true, cell: ({ last4 }) => <code dir="ltr">…{last4}</code> },
  { key: 'state', title: common('status'), cell: (card) => <CardStateOf of={card} /> },
  { key: 'note', title: t('note'), cell: ({ note }) => note && <bdi class="cut">{note}</bdi> },
  { key: 'issued', title: t('issued'), cell: ({ createdAt }) => <When at={createdAt} short /> },
  { key: 'expires', title: t('expires'), cell: ({ expiresAt }) => (expiresAt ? <When at={expiresAt} /> : t('never')) },
  { key: 'initial', title: t('initial'), end: true, cell: ({ initialAmount }) => <Money of={initialAmount} /> },
  { key: 'balance', title: t('balance'), end: true, cell: ({ balance }) => <Money of={balance} /> },
]

export default function GiftCards() {
  const query = useQuery()
  const { customerId } = query.of
  const cards = useResource(JSON.stringify([customerId, query.page]), (signal) =>
    ok(api.GET('/giftcard', { params: { query: { ...(customerId && { customerId }), page: query.page } }, signal })),
  )
  useLive(['order.*'], cards.reload)
  return (
    <Page
      title={t('title')}
      actions={
        mayManage.value && (
          <>
            <Button icon="download" onPress={() => download(pathWith('/giftcard', { customerId }), 'gift-cards.csv', 'text/csv')}>
              {common('download')}
            </Button>
            <ButtonLink icon="plus" kind="primary" href={query.href({ new: '1', page: query.of['page'] })}>
              {t('issue')}
            </ButtonLink>
          </>
        )
      }
    >
      {customerId && (
        <Note>
          {t('ofOne')} <a href={at('customers', customerId)}>{t('toCustomer')}</a> · <a href={at('gift-cards')}>{t('showAll')}</a>
        </Note>
      )}
      <LoadedList
        of={cards}
        query={query}
        empty={
          <Empty
            icon="gift"
            title={t('none')}
            text={t('noneText')}
            action={mayManage.value && <ButtonLink href={query.href({ new: '1' })}>{t('issue')}</ButtonLink>}
          />
        }
      >
        {(list) => (
          <Table
            caption={t('title')}
            columns={columns()}
            rows={list.data}
            rowKey={({ id }) => id}
            href={({ id }) => at('gift-cards', id)}
          />
        )}
      </LoadedList>
      {query.of['new'] && mayManage.value && (
        <Issue
          customerId={query.of['customer'] ?? customerId}
          onIssued={cards.reload}
          onClose={() => query.set({ new: undefined, customer: undefined, page: query.of['page'] }, { replace: true })}
        />
      )}
    </Page>
  )
}
