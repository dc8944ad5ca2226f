import { type Signal, useSignal } from '@preact/signals'
import { useRoute } from 'preact-iso/router'
import { api, fetchAuthorized, ok, pathWith } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { common } from '../../lib/i18n/common.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { shopPath } from '../../lib/session/current-shop.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { HtmlPreview } from '../../ui/html-preview.tsx'
import { EmptyState, Page, ResourceView } from '../../ui/page.tsx'
import { type DocumentKind, documentKinds } from './document-kinds.ts'
import { t } from './i18n.ts'

/** Shows and prints documents of the orders that the URL names. A link cannot open them, because they need a token. */
export default function Documents() {
  const { path } = useRoute()
  const { ids } = useQuery().values
  const isPrintable = useSignal(false)
  const kind = documentKinds.find(({ page }) => path.endsWith(`/${page}`)) ?? documentKinds[0]
  return (
    <Page
      title={t(kind.titles)}
      back={{ href: shopPath('orders'), text: common('orders') }}
      actions={isPrintable.value && <Button kind="primary" onPress={() => print()} text={t('print')} />}
    >
      <div class="sheets">
        {ids ? <Sheets ids={ids} kind={kind} isPrintable={isPrintable} /> : <EmptyState icon="orders" title={common('nothingFound')} />}
      </div>
    </Page>
  )
}

/** Reads the documents. The first print fixes the seller, so a shop without a legal name is asked for it first. */
function Sheets({
  ids,
  kind: { type, titles, namesSeller },
  isPrintable,
}: {
  ids: string
  kind: DocumentKind
  isPrintable: Signal<boolean>
}) {
  const sheets = useResource(`${type} ${ids}`, async (signal) => {
    if (namesSeller && (await ok(api.GET('/shops/v2', { signal }))).legalName === null) return { html: null }
    const answer = await fetchAuthorized(new Request(pathWith('/v2/orders/documents', { type, ids }), { signal, credentials: 'omit' }))
    const html = await answer.text()
    isPrintable.value = true
    return { html }
  })
  const toSettings = <ButtonLink kind="primary" href={shopPath('settings')} text={t('sellerSettings')} />
  return (
    <ResourceView resource={sheets} lines={10}>
      {({ html }) =>
        html !== null ? (
          <HtmlPreview html={html} label={t(titles)} styles />
        ) : (
          <EmptyState icon="page" title={t('sellerMissing')} text={t('sellerMissingText')} action={toSettings} />
        )
      }
    </ResourceView>
  )
}
