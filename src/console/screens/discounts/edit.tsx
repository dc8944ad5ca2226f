import { useLocation, useRoute } from 'preact-iso/router'
import { api, type Versioned } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { shopPath } from '../../lib/session/current-shop.ts'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { Page, ResourceView } from '../../ui/page.tsx'
import { DiscountForm } from './form.tsx'
import { t } from './i18n.ts'
import { DiscountStateBadge } from './list.tsx'
import { type NamedDiscount, readDiscount } from './read.ts'

export default function EditDiscount() {
  const id = useRoute().params['id'] ?? ''
  return id === 'new' ? (
    <Page title={t('add')} back={{ href: shopPath('discounts'), text: common('discounts') }}>
      <DiscountForm />
    </Page>
  ) : (
    <ExistingDiscount id={id} />
  )
}

function ExistingDiscount({ id }: { id: string }) {
  const { route } = useLocation()
  const discount = useResource(id, (signal) => readDiscount(id, signal))
  const current = discount.data.value
  async function remove({ data, etag }: Versioned<NamedDiscount>) {
    const body = <p>{data.code === null ? t('removeText') : t('removeCodeText')}</p>
    if (!(await confirm({ title: t('removeTitle'), body, action: common('delete'), danger: true }))) return
    await api.DELETE('/discounts/{id}', { params: { path: { id }, header: { 'if-match': etag } } })
    notify(t('removed'))
    route(shopPath('discounts'), true)
  }
  return (
    <Page
      title={current?.data.title ?? t('discount')}
      back={{ href: shopPath('discounts'), text: common('discounts') }}
      subtitle={current && <DiscountStateBadge discount={current.data} />}
      actions={current && <Button kind="danger" onPress={() => remove(current)} text={common('delete')} />}
    >
      <ResourceView resource={discount}>{(current) => <DiscountForm current={current} resource={discount} />}</ResourceView>
    </Page>
  )
}
