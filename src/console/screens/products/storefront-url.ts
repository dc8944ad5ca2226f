import type { Schema } from '../../lib/api/api.ts'

type Shop = Pick<Schema<'Shop'>, 'storefrontOrigins'> & { readonly pages: Pick<Schema<'Shop'>['pages'], 'product'> }
type Host = Pick<Schema<'ShopHost'>, 'host' | 'verifiedAt'>

/**
 * Returns the URL of a product in the storefront: the shop's product page, else the start page of its first origin or
 * verified host. Undefined without any.
 */
export function storefrontUrl({ pages, storefrontOrigins }: Shop, hosts: readonly Host[], handle: string): string | undefined {
  if (pages.product) {
    const url = new URL(pages.product)
    url.searchParams.set('handle', handle)
    return url.href
  }
  const origin = storefrontOrigins.find((candidate) => URL.canParse(candidate))
  const verified = hosts.find(({ verifiedAt }) => verifiedAt !== null)
  return origin ?? (verified && `https://${verified.host}/`)
}
