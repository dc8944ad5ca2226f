/** Screens, which load on first use. */
import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import lazy from 'preact-iso/lazy'
import { ErrorMessage } from '../../ui/error-message.tsx'
import type { IconName } from '../../ui/icon.tsx'
import { Page } from '../../ui/page.tsx'
import { noResponseError } from '../api/api-error.ts'
import { textsLoaded } from '../i18n/catalog.ts'
import { type CommonKey, common } from '../i18n/common.ts'
import type { Feature } from '../session/features.ts'
import { reloadForMissing } from '../session/program-version.ts'
import { type StaffRole, sessionStatus } from '../session/session.ts'

type Area = 'shop' | 'net' | 'account'
export type Group = 'day' | 'catalog' | 'people' | 'money' | 'finance' | 'network' | 'operations' | 'trust' | 'review'

export type Screen = {
  /** Path below /console, with `:name` parameters. */
  readonly path: string
  readonly area: Area
  /** Roles that see it, if not all of the area. The API checks permissions. */
  readonly roles?: readonly StaffRole[]
  /** Position and text key in the menu; absent for screens that others link to. */
  readonly nav?: { readonly group: Group; readonly icon: IconName; readonly textKey: CommonKey; readonly isIndented?: true }
  /** The optional part of the console that it belongs to: the menu hides it until it is used. */
  readonly feature?: Feature
  /** API path to prefetch if the URL has no query. */
  readonly first?: string
  readonly component: ComponentType & { preload?: () => unknown }
}

/** The browser's own timeout is much longer. */
const loadTimeoutMs = 20_000
const retryAfterMs = 5_000

/** Loads a screen with its texts on first use. If that fails, it shows an error with a retry. */
export function lazyScreen(load: () => Promise<{ default: ComponentType }>): Screen['component'] {
  const component = signal<ComponentType | undefined>(undefined)
  async function loadScreen(): Promise<{ default: ComponentType }> {
    const module = await load()
    await textsLoaded()
    component.value = module.default
    return module
  }
  /** After the timeout the load continues, and the screen appears if it finishes. */
  function loadWithTimeout(): ReturnType<typeof loadScreen> {
    const { promise, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(timedOut), loadTimeoutMs)
    return Promise.race([loadScreen(), promise]).finally(() => clearTimeout(timer))
  }
  /** Whether it failed before sign-in, unseen: then it is retried once without an error. */
  let isUnseen = false
  const LoadError = () => {
    const [error, setError] = useState<unknown>(isUnseen ? undefined : noResponseError())
    const retry = () =>
      loadWithTimeout().catch(async (cause) => {
        await reloadUnlessTimedOut(cause)
        setError(noResponseError())
      })
    useEffect(() => {
      if (isUnseen) void retry()
      isUnseen = false
    }, [])
    // Retries by itself, because the server may be back.
    useEffect(() => {
      if (error === undefined) return
      const timer = setTimeout(retry, retryAfterMs)
      return () => clearTimeout(timer)
    }, [error])
    const Component = component.value
    if (Component) return <Component />
    if (error === undefined) return <div class="skeleton" role="status" aria-label={common('loading')} />
    return (
      <Page title={common('failed')}>
        <ErrorMessage error={error} retry={retry} />
      </Page>
    )
  }
  return lazy(async () => {
    try {
      return await loadWithTimeout()
    } catch (cause) {
      isUnseen = sessionStatus.value !== 'in'
      await reloadUnlessTimedOut(cause)
      return { default: LoadError }
    }
  }) as Screen['component']
}

const timedOut = Symbol('too late')
/** A failed load means a new version or no server; a timeout means neither. */
const reloadUnlessTimedOut = async (cause: unknown): Promise<void> => {
  if (cause !== timedOut) await reloadForMissing()
}
