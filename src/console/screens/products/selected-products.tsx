import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { api, ifMatch, readVersioned } from '../../lib/api/api.ts'
import { truncate } from '../../lib/format/truncate.ts'
import { common, stateName } from '../../lib/i18n/common.ts'
import { notify, showError } from '../../lib/live/toasts.ts'
import { shopHeader } from '../../lib/session/current-shop.ts'
import { Button } from '../../ui/button.tsx'
import { ErrorText } from '../../ui/error-message.tsx'
import { type Product, productStatuses } from './columns.tsx'
import { t } from './i18n.ts'

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
    aria-label={t('choose', { name: truncate(product.title) })}
    checked={chosen.value.has(product.id)}
    onChange={({ currentTarget: { checked } }) => {
      chosen.value = checked ? withAll(chosen.value, [product]) : without(chosen.value, [product.id])
    }}
  />
)

/** What is chosen of a list, over its pages, and how it stands with what is done with it. */
export type Choosing = {
  readonly chosen: Signal<ChosenProducts>
  /** How far it is; empty while nothing is under way. */
  readonly told: ReadonlySignal<string>
  readonly failed: Signal<readonly Failed[]>
  /** Changes the chosen ones, one after the other. Those that are refused stay chosen: they may be tried again. */
  set(status: Product['status']): Promise<void>
}

/** @param onChanged reads the list anew */
export function useChoosing(onChanged: () => unknown): Choosing {
  const latest = useRef(onChanged)
  latest.current = onChanged
  const isThere = useRef(true)
  useEffect(
    () => () => {
      isThere.current = false
    },
    [],
  )
  return useMemo(() => {
    const chosen = signal<ChosenProducts>(new Map())
    const told = signal('')
    const failed = signal<readonly Failed[]>([])
    // Whatever shop is shown by then: these are products of this one.
    const headers = shopHeader()

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
        told.value = t('working', { done: nth, total: products.length })
        try {
          const params = { path: { id: product.id }, header: ifMatch(product.etag) }
          const { etag } = await readVersioned(api.PATCH('/product-v2/{id}', { params, headers, body: { status: statusOf(product) } }))
          done.push({ ...product, etag })
        } catch (error) {
          failed.value = [...failed.value, { product, error }]
        }
      }
      told.value = ''
      const [first] = failed.value
      if (isThere.current) await latest.current()
      // The list that would show them is no more.
      else if (first) {
        const why = (first.error instanceof Error && first.error.message) || common('away')
        showError(new Error(t('leftAlone', { n: failed.value.length, name: truncate(first.product.title), why })))
      }
      return done
    }
    async function set(status: Product['status']): Promise<void> {
      const asked = [...chosen.value.values()]
      const done = await setAll(
        asked.filter((product) => product.status !== status),
        () => status,
      )
      const refused = new Set(failed.value.map(({ product }) => product.id))
      // What was chosen meanwhile stays so.
      chosen.value = without(
        chosen.value,
        asked.map(({ id }) => id).filter((id) => !refused.has(id)),
      )
      if (done.length > 0)
        notify(t('changed', { n: done.length, status: stateName(status) }), { undo: () => setAll(done, (product) => product.status) })
      else if (refused.size === 0) notify(t('alreadySo', { n: asked.length, status: stateName(status) }))
    }
    return { chosen, told, failed, set }
  }, [])
}

/** What is done with several: one after the other, with how far it is. */
export function Chosen({ of: { chosen, told, failed, set }, here }: { of: Choosing; here: readonly Product[] }) {
  const isAll = here.every(({ id }) => chosen.value.has(id))
  const count = chosen.value.size
  return (
    <div class="chosen row" role="group" aria-label={t('chosenGroup')}>
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
        <span>{t('chooseAll')}</span>
      </label>
      {count > 0 && (
        <>
          <strong>{t('chosen', { n: count })}</strong>
          {productStatuses.map((status) => (
            <Button key={status} disabled={told.value !== ''} onPress={() => set(status)}>
              {t(`set.${status}`)}
            </Button>
          ))}
          <Button
            kind="quiet"
            onPress={() => {
              chosen.value = new Map()
              failed.value = []
            }}
          >
            {t('chooseNone')}
          </Button>
        </>
      )}
      <span role="status">{told.value}</span>
    </div>
  )
}

/** What was refused, whatever the list shows by then. */
export function NotChanged({ of: { failed } }: { of: Choosing }) {
  if (failed.value.length === 0) return null
  return (
    <div class="problem" role="alert">
      <div class="stack">
        <strong>{t('notChanged', { n: failed.value.length })}</strong>
        <ul class="stack">
          {failed.value.map(({ product, error }) => (
            <li key={product.id}>
              <bdi class="cut">{product.title}</bdi>
              <ErrorText error={error} />
            </li>
          ))}
        </ul>
        <Button onPress={() => (failed.value = [])}>{common('close')}</Button>
      </div>
    </div>
  )
}
