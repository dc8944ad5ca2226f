import { common } from '../lib/i18n/common.ts'
import type { Screen } from '../lib/navigation/screen.tsx'
import { hasRole, shop } from '../lib/session/current-shop.ts'
import { isFeatureShown } from '../lib/session/features.ts'
import { isOperator } from '../lib/session/session.ts'
import { screens } from '../screens.ts'

/** Returns the screens with a name for the signed-in person: of the shop, or of the administration outside shops. */
export const availableScreens = (): readonly Screen[] =>
  screens.filter(
    ({ nav, area, roles }) =>
      nav && (area === 'shop' ? shop.value !== undefined && hasRole(roles) : shop.value === undefined && isOperator.value),
  )

/** Returns the menu's screens: `availableScreens` without unused optional parts. */
export const menuScreens = (): readonly Screen[] =>
  availableScreens().filter(({ feature }) => feature === undefined || isFeatureShown(feature))
/** Returns the name of a screen in the menu; empty for one without an entry. */
export const screenName = ({ nav }: Screen): string => (nav ? common(nav.textKey) : '')
/** Returns the URL of a screen in the current shop. */
export const screenHref = ({ path }: Screen): string => `/console${path.replace(':shop', encodeURIComponent(shop.value?.name ?? ''))}`
