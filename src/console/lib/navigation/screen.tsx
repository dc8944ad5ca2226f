/** A screen: loaded when it is first shown, with its words in the reader's language. */
import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import lazy from 'preact-iso/lazy'
import { ErrorMessage } from '../../ui/error-message.tsx'
import type { IconName } from '../../ui/icon.tsx'
import { Page } from '../../ui/page.tsx'
import { noResponseError } from '../api/api-error.ts'
import { textsLoaded } from '../i18n/catalog.ts'
import { common } from '../i18n/common.ts'
import { reloadForMissing } from '../session/program-version.ts'
import { type StaffRole, sessionStatus } from '../session/session.ts'

export type Area = 'shop' | 'net' | 'account'
export type Group = 'day' | 'catalog' | 'people' | 'content' | 'money' | 'network' | 'operations' | 'trust' | 'review'

export type Screen = {
  /** Below /console, with `:name` for what differs. */
  readonly path: string
  readonly area: Area
  /** Who is shown it, where it is not everybody of the area: what they may do, souk decides. */
  readonly roles?: readonly StaffRole[]
  /** Where it stands in the menu, and under which of the shell's words; screens that others lead to have none. */
  readonly nav?: { readonly group: Group; readonly icon: IconName; readonly word: string; readonly below?: true }
  /** What of the API it reads first where its address has no query: asked for as soon as somebody is in, while the frame is still drawn. */
  readonly first?: string
  readonly component: ComponentType & { preload?: () => unknown }
}

/** For so long a screen is waited for; the browser itself gives up much later. */
const loadTimeoutMs = 20_000
/** Of one that did not come. */
const retryAfterMs = 5_000

/** Loads a screen when it is first shown, and the words that it imports; where it does not come, it says so, and can be asked for again. */
export function lazyScreen(load: () => Promise<{ default: ComponentType }>): Screen['component'] {
  const found = signal<ComponentType | undefined>(undefined)
  async function loadScreen(): Promise<{ default: ComponentType }> {
    const module = await load()
    await textsLoaded()
    found.value = module.default
    return module
  }
  /** Where it takes too long it is still on its way, and is shown when it comes after all. */
  function loadWithTimeout(): ReturnType<typeof loadScreen> {
    const { promise, reject } = Promise.withResolvers<never>()
    const impatience = setTimeout(() => reject(timedOut), loadTimeoutMs)
    return Promise.race([loadScreen(), promise]).finally(() => clearTimeout(impatience))
  }
  /** Whether it failed before anybody was in, and nobody was shown that: then it is asked for again by itself, once. */
  let isUnseen = false
  const Missing = () => {
    const [error, setError] = useState<unknown>(isUnseen ? undefined : noResponseError())
    const again = () =>
      loadWithTimeout().catch(async (cause) => {
        await reloadUnlessTimedOut(cause)
        setError(noResponseError())
      })
    useEffect(() => {
      if (isUnseen) void again()
      isUnseen = false
    }, [])
    // Where souk was away it is back some time, and somebody waits.
    useEffect(() => {
      if (error === undefined) return
      const waiting = setTimeout(again, retryAfterMs)
      return () => clearTimeout(waiting)
    }, [error])
    const Found = found.value
    if (Found) return <Found />
    if (error === undefined) return <div class="skeleton" role="status" aria-label={common('loading')} />
    return (
      <Page title={common('failed')}>
        <ErrorMessage error={error} retry={again} />
      </Page>
    )
  }
  return lazy(async () => {
    try {
      return await loadWithTimeout()
    } catch (cause) {
      isUnseen = sessionStatus.value !== 'in'
      await reloadUnlessTimedOut(cause)
      return { default: Missing }
    }
  }) as Screen['component']
}

const timedOut = Symbol('too late')
/** It is of another version than the page, or the server is away; what takes too long is neither. */
const reloadUnlessTimedOut = async (cause: unknown): Promise<void> => {
  if (cause !== timedOut) await reloadForMissing()
}
