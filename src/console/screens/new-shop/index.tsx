import { useLocation } from 'preact-iso/router'
import { api, ok } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { browserTimeZone } from '../../lib/format/format.ts'
import { notify } from '../../lib/live/toasts.ts'
import { shopHref } from '../../lib/session/current-shop.ts'
import { addShop, session } from '../../lib/session/session.ts'
import { Form } from '../../ui/form.tsx'
import { EmptyState, Page, Section } from '../../ui/page.tsx'
import { NewShopFields, textsOf, useNewShop } from './fields.tsx'
import { t } from './i18n.ts'
import { newShopBody } from './new-shop.domain.ts'

/** Creates another shop of the person. */
export default function NewShop() {
  const { route } = useLocation()
  const shop = useNewShop()
  const sendOnce = useIdempotentSend()
  async function send(): Promise<void> {
    const body = newShopBody(textsOf(shop), browserTimeZone())
    const created = await sendOnce(body, (header) => ok(api.POST('/shops/v2', { params: { header }, body })))
    addShop({ ...created, role: 'OWNER' })
    notify(t('created'))
    route(shopHref(created.name))
  }
  if (!session.value?.canCreateShops)
    return (
      <Page title={t('create')}>
        <EmptyState icon="shield" title={t('notAllowed')} text={t('notAllowedText')} />
      </Page>
    )
  return (
    <Page title={t('create')} subtitle={t('createText')}>
      <Section>
        <Form onSubmit={send} submit={t('create')} label={t('create')}>
          <NewShopFields fields={shop} />
        </Form>
      </Section>
    </Page>
  )
}
