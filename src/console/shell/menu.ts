import { common } from '../lib/i18n/common.ts'
import type { Screen } from '../lib/navigation/screen.tsx'
import { role, shop } from '../lib/session/current-shop.ts'
import { isOperator } from '../lib/session/session.ts'
import { screens } from '../screens.ts'

/** Returns the menu's screens for the signed-in person. */
export const menu = (): readonly Screen[] =>
  screens.filter(
    ({ nav, area, roles }) =>
      nav &&
      (area === 'shop'
        ? shop.value !== undefined && (!roles || (role.value !== undefined && roles.includes(role.value)))
        : isOperator.value),
  )
export const screenName = ({ nav }: Screen): string => (nav ? common(nav.word) : '')
export const screenHref = ({ path }: Screen): string => `/console${path.replace(':shop', encodeURIComponent(shop.value?.name ?? ''))}`
