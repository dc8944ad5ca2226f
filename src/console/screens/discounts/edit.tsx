import { useLocation, useRoute } from 'preact-iso/router'
import { api, ok, type Schema, versioned } from '../../lib/api.ts'
import type { Choice } from '../../lib/choice.ts'
import { collectionChoice, namedChoices, productChoice } from '../../lib/find.ts'
import { useResource } from '../../lib/resource.ts'
import { at } from '../../lib/shop.ts'
import { c } from '../../lib/words/common.ts'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { Loaded, Page } from '../../ui/page.tsx'
import { notify } from '../../lib/notices.ts'
import { DiscountForm } from './form.tsx'
import { DiscountStateOf } from './list.tsx'
import { w } from './words.ts'

/** A discount with its version, and what the products and collections are called that it is for. */
export type Held = {
  readonly data: Schema<'Discount'>
  readonly etag: string
  readonly products: readonly Choice[]
  readonly collections: readonly Choice[]
}

const short = ({ id, text, detail }: Choice): Choice => ({ id, text, detail })

/** @throws Refused */
export async function readDiscount(id: string, signal?: AbortSignal): Promise<Held> {
  const more = signal ? { signal } : {}
  const { data, etag } = await versioned(api.GET('/discounts/{id}', { params: { path: { id } }, ...more }))
  const discount = data as Schema<'Discount'>
  const [products, collections] = await Promise.all([
    namedChoices(
      discount.productIds ?? [],
      (one) => ok(api.GET('/product-v2/{id}', { params: { path: { id: one } }, ...more })),
      (of) => short(productChoice(of)),
    ),
    namedChoices(
      discount.collectionIds ?? [],
      (one) => ok(api.GET('/collection-v2/{id}', { params: { path: { id: one } }, ...more })),
      (of) => short(collectionChoice(of)),
    ),
  ])
  return { data: discount, etag, products, collections }
}

export default function EditDiscount() {
  const id = useRoute().params['id'] ?? ''
  return id === 'new' ? (
    <Page title={w('add')} back={{ href: at('discounts'), text: w('title') }}>
      <DiscountForm />
    </Page>
  ) : (
    <Existing id={id} />
  )
}

function Existing({ id }: { id: string }) {
  const { route } = useLocation()
  const discount = useResource(id, (signal) => readDiscount(id, signal))
  const held = discount.data.value
  async function remove({ data, etag }: Held) {
    const body = <p>{data.code === null ? w('removeText') : w('removeCodeText')}</p>
    if (!(await confirm({ title: w('removeTitle'), body, action: c('delete'), danger: true }))) return
    await api.DELETE('/discounts/{id}', { params: { path: { id }, header: { 'if-match': etag } } })
    notify(w('removed'))
    route(at('discounts'), true)
  }
  return (
    <Page
      title={held?.data.title ?? w('discount')}
      back={{ href: at('discounts'), text: w('title') }}
      subtitle={held && <DiscountStateOf of={held.data} />}
      actions={
        held && (
          <Button kind="danger" onPress={() => remove(held)}>
            {c('delete')}
          </Button>
        )
      }
    >
      <Loaded of={discount}>{(shown) => <DiscountForm of={shown} onSaved={discount.put} />}</Loaded>
    </Page>
  )
}
