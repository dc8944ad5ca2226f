import type { Screen } from '../lib/navigation/screen.tsx'
import { role, shop } from '../lib/session/current-shop.ts'
import { isOperator } from '../lib/session/session.ts'
import { screens } from '../screens.ts'
import { t } from './i18n.ts'

/** The screens of the menu for whoever is logged in, where they are. */
export const menu = (): readonly Screen[] =>
  screens.filter(
    ({ nav, area, roles }) =>
      nav &&
      (area === 'shop'
        ? shop.value !== undefined && (!roles || (role.value !== undefined && roles.includes(role.value)))
        : isOperator.value),
  )
/** A screen's name in the menu. */
export const screenName = ({ nav }: Screen): string => (nav && t.has(nav.word) ? t(nav.word) : '')
/** Its address in the shop that the page is about. */
export const screenHref = ({ path }: Screen): string => `/console${path.replace(':shop', encodeURIComponent(shop.value?.name ?? ''))}`
