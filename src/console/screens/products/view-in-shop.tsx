import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { t } from './i18n.ts'
import { storefrontUrl } from './storefront-url.ts'

/** A link to an active product in the storefront; nothing where the shop has no storefront's URL. */
export function ViewInShop({ product: { handle, status } }: { product: Pick<Schema<'Product'>, 'handle' | 'status'> }) {
  const shop = useResource('', (signal) => ok(api.GET('/shops/v2', { signal })))
  const hosts = useResource('', (signal) => ok(api.GET('/shops/v2/hosts', { params: { query: { limit: 20 } }, signal })))
  const url = shop.data.value && storefrontUrl(shop.data.value, hosts.data.value?.data ?? [], handle)
  if (status !== 'ACTIVE' || !url) return null
  return (
    <a class="button plain" href={url} target="_blank" rel="noreferrer">
      {t('viewInShop')}
    </a>
  )
}
