import { type Signal, useSignal } from '@preact/signals'
import { api, ifMatch, versioned } from '../../lib/api.ts'
import { notify } from '../../lib/notices.ts'
import { c, stateName } from '../../lib/words/common.ts'
import { Button } from '../../ui/button.tsx'
import { ProblemText } from '../../ui/problem.tsx'
import { type Product, productStatuses } from './columns.tsx'
import { w } from './words.ts'

type One = Pick<Product, 'id' | 'title' | 'status'>
export type ChosenProducts = ReadonlyMap<string, One>
/** One that was changed, as it was before, with the version that came of it. */
type Changed = One & { readonly etag: string }
type Failed = { readonly product: One; readonly error: unknown }

const withAll = (chosen: ChosenProducts, products: readonly One[]): ChosenProducts =>
  new Map([...chosen, ...products.map(({ id, title, status }) => [id, { id, title, status }] as const)])
const without = (chosen: ChosenProducts, ids: readonly string[]): ChosenProducts => new Map([...chosen].filter(([id]) => !ids.includes(id)))

export const Choose = ({ product, chosen }: { product: Product; chosen: Signal<ChosenProducts> }) => (
  <input
    type="checkbox"
    aria-label={w('choose', { name: product.title.slice(0, 80) })}
    checked={chosen.value.has(product.id)}
    onChange={({ currentTarget: { checked } }) => {
      chosen.value = checked ? withAll(chosen.value, [product]) : without(chosen.value, [product.id])
    }}
  />
)

/** What is done with several: one after the other, with how far it is, and what was refused. */
export function Chosen({
  chosen,
  here,
  onChanged,
}: {
  chosen: Signal<ChosenProducts>
  here: readonly Product[]
  onChanged: () => unknown
}) {
  const told = useSignal('')
  const failed = useSignal<readonly Failed[]>([])
  const isAll = here.every(({ id }) => chosen.value.has(id))
  const count = chosen.value.size

  /**
   * @param products with the version that is to be changed; without: whatever is there, of which the list tells no version
   * @returns those that were changed
   */
  async function setAll(
    products: readonly (One & { readonly etag?: string })[],
    statusOf: (product: One) => Product['status'],
  ): Promise<readonly Changed[]> {
    const done: Changed[] = []
    failed.value = []
    for (const [nth, product] of products.entries()) {
      told.value = w('working', { done: nth, total: products.length })
      try {
        const params = { path: { id: product.id }, header: ifMatch(product.etag) }
        const { etag } = await versioned(api.PATCH('/product-v2/{id}', { params, body: { status: statusOf(product) } }))
        done.push({ ...product, etag })
      } catch (error) {
        failed.value = [...failed.value, { product, error }]
      }
    }
    told.value = ''
    await onChanged()
    return done
  }
  async function set(status: Product['status']): Promise<void> {
    const products = [...chosen.value.values()].filter((product) => product.status !== status)
    const done = await setAll(products, () => status)
    // Those that failed stay chosen: they may be tried again.
    const refused = failed.value.map(({ product }) => product)
    chosen.value = withAll(new Map(), refused)
    if (done.length > 0)
      notify(w('changed', { n: done.length, status: stateName(status) }), { undo: () => setAll(done, (product) => product.status) })
  }
  return (
    <>
      <div class="chosen row" role="group" aria-label={w('chosenGroup')}>
        <label class="choice">
          <input
            type="checkbox"
            checked={isAll}
            onChange={({ currentTarget: { checked } }) => {
              chosen.value = checked
                ? withAll(chosen.value, here)
                : without(
                    chosen.value,
                    here.map(({ id }) => id),
                  )
            }}
          />
          <span>{w('chooseAll')}</span>
        </label>
        {count > 0 && (
          <>
            <strong>{w('chosen', { n: count })}</strong>
            {productStatuses.map((status) => (
              <Button key={status} disabled={told.value !== ''} onPress={() => set(status)}>
                {w(`set.${status}`)}
              </Button>
            ))}
            <Button
              kind="quiet"
              onPress={() => {
                chosen.value = new Map()
                failed.value = []
              }}
            >
              {w('chooseNone')}
            </Button>
          </>
        )}
        <span role="status">{told.value}</span>
      </div>
      {failed.value.length > 0 && (
        <div class="problem" role="alert">
          <div class="stack">
            <strong>{w('notChanged', { n: failed.value.length })}</strong>
            <ul class="stack">
              {failed.value.map(({ product, error }) => (
                <li key={product.id}>
                  <bdi class="cut">{product.title}</bdi>
                  <ProblemText error={error} />
                </li>
              ))}
            </ul>
            <Button onPress={() => (failed.value = [])}>{c('close')}</Button>
          </div>
        </div>
      )}
    </>
  )
}
