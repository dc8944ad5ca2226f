import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { chooseLanguage, type Language, language } from '../lib/i18n/catalog.ts'
import { common } from '../lib/i18n/common.ts'
import { isLive } from '../lib/live/live-events.ts'
import { navigate } from '../lib/navigation/navigate.ts'
import type { Group } from '../lib/navigation/screen.tsx'
import { chooseColorScheme, colorScheme, colorSchemes } from '../lib/session/color-scheme.ts'
import { rememberShop, shop, shopHref } from '../lib/session/current-shop.ts'
import { rememberFeature } from '../lib/session/features.ts'
import { isOperator, logOut, session, shops } from '../lib/session/session.ts'
import { clearDirty, isDirty } from '../lib/session/unsaved-changes.ts'
import { screenAt } from '../screens.ts'
import { Button } from '../ui/button.tsx'
import { askToLeave } from '../ui/dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { t } from './i18n.ts'
import { LanguageSelect } from './language-select.tsx'
import { menuScreens, screenHref, screenName } from './menu.ts'
import { openPalette, Palette } from './palette.tsx'

const groups: readonly Group[] = ['day', 'catalog', 'people', 'money', 'finance', 'network', 'review', 'operations', 'trust']

/** Whether the menu is open on a phone. */
const isOpen = signal(false)

/** Whether a screen has been loading for longer than the delay. */
const isScreenLoading = signal(false)
const loadingDelayMs = 300
let loadingTimer: ReturnType<typeof setTimeout> | undefined
/** Shows the progress bar while a screen loads. */
export function screenLoadStarted(): void {
  loadingTimer ??= setTimeout(() => (isScreenLoading.value = true), loadingDelayMs)
}
/** Hides the progress bar once the screen is loaded or no longer needed. */
export function screenLoadEnded(): void {
  clearTimeout(loadingTimer)
  loadingTimer = undefined
  isScreenLoading.value = false
}

async function confirmLogOut(): Promise<void> {
  if (!isDirty() || (await askToLeave())) await logOut()
}

/** Changes the language, which reloads the page; the select keeps its value if the person stays. */
async function changeLanguage(choice: HTMLSelectElement): Promise<void> {
  const tag = choice.value as Language
  choice.value = language
  if (isDirty() && !(await askToLeave())) return
  clearDirty()
  chooseLanguage(tag)
}

export function Frame({ children }: { children: ComponentChildren }) {
  const { path } = useLocation()
  useEffect(() => {
    isOpen.value = false
    rememberShop()
    rememberFeature(screenAt(path)?.feature)
  }, [path])
  useEffect(() => screenLoadEnded, [])
  const entries = menuScreens()
  // The shown screen, or its nearest parent.
  const current = entries
    .filter((screen) => path === screenHref(screen) || path.startsWith(`${screenHref(screen)}/`))
    .sort((a, b) => b.path.length - a.path.length)[0]
  /** Preloads the screen of a link under the pointer. */
  function preloadScreen({ target }: Event): void {
    const link = target instanceof Element && target.closest('a')
    if (link) entries.find((screen) => screenHref(screen) === link.pathname)?.component.preload?.()
  }
  // Closes the phone's menu when the focus leaves it.
  function closeMenuOnLeave({ currentTarget, relatedTarget }: FocusEvent): void {
    if (isOpen.value && relatedTarget instanceof Element && !(currentTarget as Element).contains(relatedTarget)) isOpen.value = false
  }
  return (
    <div class={isOpen.value ? 'frame open' : 'frame'}>
      <a class="skip" href="#main">
        {t('skip')}
      </a>
      <header class="top">
        <button
          type="button"
          class="button quiet menu-button"
          aria-expanded={isOpen.value}
          aria-controls="menu"
          aria-label={t('menu')}
          onClick={() => (isOpen.value = !isOpen.value)}
        >
          <Icon name={isOpen.value ? 'close' : 'menu'} />
        </button>
        <ShopSwitcher />
        <button type="button" class="palette-button" aria-label={t('palette')} onClick={openPalette} aria-keyshortcuts="Control+K Meta+K">
          <Icon name="search" />
          <span>{t('palette')}</span>
          {/* The style draws the keys, so that they are not part of the button's name. */}
          <kbd data-keys="Ctrl K" />
        </button>
        <span
          class={isLive.value ? 'live on' : 'live'}
          role="img"
          aria-label={isLive.value ? t('live') : t('notLive')}
          title={isLive.value ? t('live') : t('notLive')}
        />
      </header>
      <nav id="menu" aria-label={t('mainMenu')} onPointerOver={preloadScreen} onFocusOut={closeMenuOnLeave}>
        {groups.map((group) => {
          const groupScreens = entries.filter(({ nav }) => nav?.group === group)
          return (
            groupScreens.length > 0 && (
              <section key={group} aria-label={t(`group.${group}`)}>
                <h2>{t(`group.${group}`)}</h2>
                <ul>
                  {groupScreens.map((screen) => (
                    <li key={screen.path} class={screen.nav?.isIndented ? 'below' : undefined}>
                      <a href={screenHref(screen)} aria-current={screen === current ? 'page' : undefined}>
                        {screen.nav && <Icon name={screen.nav.icon} />}
                        <span>{screenName(screen)}</span>
                      </a>
                    </li>
                  ))}
                </ul>
              </section>
            )
          )
        })}
        <footer>
          <div class="pair">
            <a href="/console/account" aria-current={path === '/console/account' ? 'page' : undefined}>
              {t('account')}
            </a>
            <a href="/docs" target="_blank" rel="noreferrer">
              {t('docs')}
            </a>
          </div>
          <div class="pair">
            <LanguageSelect onChange={changeLanguage} />
            <Button onPress={confirmLogOut} text={t('logout')} />
          </div>
          <label>
            <span class="unseen">{t('scheme')}</span>
            <select
              value={colorScheme.value}
              onChange={({ currentTarget: { value } }) => chooseColorScheme(colorSchemes.find((scheme) => scheme === value) ?? 'system')}
            >
              {colorSchemes.map((scheme) => (
                <option key={scheme} value={scheme}>
                  {t(`scheme.${scheme}`)}
                </option>
              ))}
            </select>
          </label>
        </footer>
      </nav>
      <main id="main" tabIndex={-1}>
        <div role="status" class={isScreenLoading.value ? 'screen-loading on' : 'screen-loading'}>
          {isScreenLoading.value && <span class="unseen">{common('loading')}</span>}
        </div>
        {shop.value?.status === 'SUSPENDED' && path.startsWith('/console/s/') && (
          <p class="test-mode" role="status">
            {t('suspended')}
          </p>
        )}
        {shop.value?.mode === 'TEST' && path.startsWith('/console/s/') && <p class="test-mode">{t('testMode')}</p>}
        {children}
      </main>
      <Palette />
    </div>
  )
}

/** Selects a shop, the administration, or a new shop. A single choice is a link. */
function ShopSwitcher() {
  const { path } = useLocation()
  const currentShop = shop.value
  const isAdministration = isOperator.value && path.startsWith('/console/net')
  const name = currentShop ? currentShop.title || currentShop.name : isOperator.value ? t('operator') : 'souk'
  const choices = [
    ...shops.value.map((staffShop) => [shopHref(staffShop.name), staffShop.title || staffShop.name] as const),
    ...(isOperator.value ? [['/console/net', t('operator')] as const] : []),
    ...(session.value?.canCreateShops ? [['/console/shops/new', t('createShop')] as const] : []),
  ]
  const currentHref = currentShop
    ? shopHref(currentShop.name)
    : isAdministration
      ? '/console/net'
      : path === '/console/shops/new'
        ? path
        : ''
  if (choices.length < 2)
    return (
      <a class="brand" href="/console" dir="auto">
        <bdi>{name}</bdi>
      </a>
    )
  return (
    <label class="brand">
      <span class="unseen">{t('chooseShop')}</span>
      <select
        value={currentHref}
        onChange={({ currentTarget }) => {
          const href = currentTarget.value
          // The select keeps the present choice if the person stays.
          currentTarget.value = currentHref
          navigate(href)
        }}
      >
        {currentHref === '' && <option value="">{t('chooseShop')}</option>}
        {choices.map(([href, text]) => (
          <option key={href} value={href}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}
