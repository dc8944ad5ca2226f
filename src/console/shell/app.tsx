import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { ErrorBoundary } from 'preact-iso/lazy'
import { LocationProvider, Route, Router, useLocation, useRoute } from 'preact-iso/router'
import { common } from '../lib/i18n/common.ts'
import { dismissAll } from '../lib/live/toasts.ts'
import type { Screen } from '../lib/navigation/screen.tsx'
import { hasRole, lastShopName, setShopFromPath, shop, shopHref, shopName } from '../lib/session/current-shop.ts'
import { linkToken } from '../lib/session/link-token.ts'
import { recordVisit } from '../lib/session/list-position.ts'
import { isOutdated } from '../lib/session/program-version.ts'
import { isOperator, session, sessionStatus, shops, startSession } from '../lib/session/session.ts'
import { isLostShop } from '../lib/session/staff-shops.ts'
import { clearDirty, isDirty } from '../lib/session/unsaved-changes.ts'
import { screens } from '../screens.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { askToLeave, dismissQuestion, PageToasts, QuestionDialog } from '../ui/dialog.tsx'
import type { IconName } from '../ui/icon.tsx'
import { EmptyState, Page } from '../ui/page.tsx'
import { Frame, screenLoadEnded, screenLoadStarted } from './frame.tsx'
import { t } from './i18n.ts'
import { SignedOut } from './login.tsx'

/** The console: the login, or the screen of the URL. */
export const App = () => (
  <LocationProvider scope="/console">
    <LeaveGuard />
    <SessionGate />
    <QuestionDialog />
    <PageToasts />
  </LocationProvider>
)

/** Asks before a link or the browser's history leaves unsaved changes. */
function LeaveGuard() {
  const { route, path, url } = useLocation()
  useEffect(() => recordVisit(path, url), [path, url])
  const latest = useRef({ url, route })
  latest.current = { url, route }
  // A layout effect of a child runs before the router's own; registered once, because a later listener would run
  // after it.
  useLayoutEffect(() => {
    async function onClick(event: MouseEvent): Promise<void> {
      if (!isDirty() || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return
      const link = event
        .composedPath()
        .find((target): target is HTMLAnchorElement => target instanceof HTMLAnchorElement && target.href !== '')
      if (!link || link.target || link.download || !link.pathname.startsWith('/console')) return
      // A link within the page, such as the skip link.
      if (link.hash && link.pathname + link.search === location.pathname + location.search) return
      event.preventDefault()
      event.stopImmediatePropagation()
      if (await askToLeave()) latest.current.route(link.href.slice(location.origin.length))
    }
    async function onPopState(event: PopStateEvent): Promise<void> {
      if (!isDirty()) return
      event.stopImmediatePropagation()
      // The browser has navigated already: it goes back to the page, and forward again if the person agrees.
      history.pushState(null, '', latest.current.url)
      if (!(await askToLeave())) return
      clearDirty()
      history.back()
    }
    addEventListener('click', onClick, { capture: true })
    addEventListener('popstate', onPopState)
    return () => {
      removeEventListener('click', onClick, { capture: true })
      removeEventListener('popstate', onPopState)
    }
  }, [])
  return null
}

function SessionGate() {
  const { path } = useLocation()
  // A question belongs to the page that asked it.
  useEffect(dismissQuestion, [path, sessionStatus.value])
  useEffect(() => {
    if (sessionStatus.value !== 'in') dismissAll()
  }, [sessionStatus.value])
  if (linkToken.value?.page === 'invitation' && sessionStatus.value !== 'unknown') return <SignedOut />
  switch (sessionStatus.value) {
    case 'unknown':
      return <div class="splash" role="status" aria-label={common('loading')} />
    case 'unreachable':
      return (
        <main class="login-page">
          <h1>{t('awayTitle')}</h1>
          <p>{common('away')}</p>
          <Button kind="primary" onPress={startSession} text={common('retry')} />
        </main>
      )
    case 'in':
    case 'locked':
      return (
        <>
          {sessionStatus.value === 'locked' && <SignedOut />}
          <div hidden={sessionStatus.value === 'locked'}>
            <SignedIn />
          </div>
        </>
      )
    default:
      return <SignedOut />
  }
}

function SignedIn() {
  const { path } = useLocation()
  setShopFromPath(path)
  return (
    <Frame>
      {isOutdated.value && (
        <div class="banner" role="status">
          {common('outdated')} <Button onPress={() => location.reload()} text={common('reload')} />
        </div>
      )}
      <ErrorBoundary>
        <Router onLoadStart={screenLoadStarted} onLoadEnd={screenLoadEnded}>
          {[
            ...screens.map((screen) => <Route key={screen.path} path={`/console${screen.path}`} component={withAccess(screen)} />),
            // Paths of the API and of links; a person who opens them signed in wants the console.
            ...['', '/session', '/setup', '/invitation'].map((path) => (
              <Route key={`start${path}`} path={`/console${path}`} component={StartPage} />
            )),
            <Route key="missing" default component={NotFound} />,
          ]}
        </Router>
      </ErrorBoundary>
    </Frame>
  )
}

const guards = new Map<Screen, () => preact.JSX.Element>()
/** Wraps a screen in its access check. */
function withAccess(screen: Screen): () => preact.JSX.Element {
  const existingGuard = guards.get(screen)
  if (existingGuard) return existingGuard
  const Component = screen.component
  const guard = () => {
    // The screen's own path stays while the next screen loads.
    const { path } = useRoute()
    const hasAccess = screen.area === 'net' ? isOperator.value : hasRole(screen.roles)
    // Access was lost while something was typed.
    const losesInput = useRef(false)
    losesInput.current = !hasAccess && (losesInput.current || isDirty())
    const warning = losesInput.current ? ` ${common('leaveText')}` : ''
    if (screen.area === 'shop' && !shop.value)
      return isLostShop(shopName.value) ? <NoScreen icon="people" title={t('lostShop')} text={t('lostShopText')} /> : <NotFound />
    if (!hasAccess)
      return (
        <NoScreen
          icon="shield"
          title={common('notYours')}
          text={`${screen.area === 'net' ? t('operatorsOnly') : common('notYoursText')}${warning}`}
        />
      )
    // The key remounts the screen for another record.
    return <Component key={path} />
  }
  guards.set(screen, guard)
  return guard
}

/** A page that says why there is no screen. */
const NoScreen = ({ icon = 'page', title, text }: { icon?: IconName; title: string; text: string }) => (
  <Page title={title}>
    <EmptyState icon={icon} title={title} text={text} action={<ButtonLink href="/console" text={common('home')} />} />
  </Page>
)
const NotFound = () => <NoScreen title={common('missing')} text={common('missingText')} />

/** Redirects to the only or last shop, and operators without one to the administration. */
function StartPage() {
  const { route } = useLocation()
  const staffShops = shops.value
  const lastShop = staffShops.find(({ name }) => name === lastShopName())
  const startShop = staffShops.length === 1 ? staffShops[0] : lastShop
  const isAdministration = isOperator.value && staffShops.length === 0
  const href = startShop ? shopHref(startShop.name) : isAdministration ? '/console/net' : undefined
  useEffect(() => {
    if (href) route(href, true)
  }, [href, route])
  if (href) return <div />
  if (staffShops.length === 0)
    return (
      <Page title={t('noShop')}>
        <EmptyState
          icon="people"
          title={t('noShop')}
          text={t('noShopText')}
          action={session.value?.canCreateShops && <ButtonLink kind="primary" href="/console/shops/new" text={t('createShop')} />}
        />
      </Page>
    )
  return (
    <Page title={t('chooseShop')} subtitle={t('chooseShopText')}>
      <ul class="choices-list">
        {staffShops.map((staffShop) => (
          <li key={staffShop.id}>
            <a href={shopHref(staffShop.name)}>
              <strong>
                <bdi>{staffShop.title}</bdi>
              </strong>
              <span class="faint">{staffShop.name}</span>
            </a>
          </li>
        ))}
      </ul>
    </Page>
  )
}
