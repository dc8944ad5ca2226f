import { api, ok } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { common } from '../../lib/i18n/common.ts'
import { shopPath } from '../../lib/session/current-shop.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { Money } from '../../ui/money.tsx'
import { ResourceView, Section } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { t } from './i18n.ts'

const shownMax = 10

/** Gift cards that only this customer can use. */
export function CustomerGiftCards({ customerId }: { customerId: string }) {
  const cards = useResource(customerId, (signal) =>
    ok(api.GET('/giftcard', { params: { query: { customerId, limit: shownMax } }, signal })),
  )
  return (
    <Section
      title={common('giftCards')}
      actions={<ButtonLink href={`${shopPath('gift-cards')}?new=1&customer=${customerId}`} text={t('issueCard')} />}
    >
      <ResourceView resource={cards} lines={2}>
        {(list) =>
          list.data.length === 0 ? (
            <p class="hint">{t('noCards')}</p>
          ) : (
            <>
              <Table
                caption={t('theirCards')}
                rows={list.data}
                rowKey={({ id }) => id}
                href={({ id }) => shopPath('gift-cards', id)}
                columns={[
                  { title: common('card'), main: true, cell: ({ last4 }) => <code dir="ltr">…{last4}</code> },
                  { title: common('moneyLeft'), alignEnd: true, cell: ({ balance }) => <Money amount={balance} /> },
                ]}
              />
              {list.total > list.data.length && (
                <a href={`${shopPath('gift-cards')}?customerId=${customerId}`}>{t('allCards', { n: list.total })}</a>
              )}
            </>
          )
        }
      </ResourceView>
    </Section>
  )
}
