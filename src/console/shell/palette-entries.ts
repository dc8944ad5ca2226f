/** Pages by their synonyms, actions and settings of the palette; loaded when it opens. */
import { foldText } from '../lib/format/fold-text.ts'
import { chooseColorScheme, colorSchemes } from '../lib/session/color-scheme.ts'
import { hasRole, shop, shopPath } from '../lib/session/current-shop.ts'
import { screenAt } from '../screens.ts'
import { t as shellText } from './i18n.ts'
import { availableScreens, screenHref, screenName } from './menu.ts'
import { openShortcuts, type PaletteEntry } from './palette-entry.ts'
import { t } from './palette-texts/i18n.ts'

/** An entry with the synonyms that find it. */
type Entry = PaletteEntry & { readonly synonyms: string }

const createActions = [
  ['newProduct', 'products/new'],
  ['importProducts', 'products/import'],
  ['newCollection', 'collections/new'],
  ['newDraft', 'orders/drafts/new'],
  ['importCustomers', 'customers/import'],
  ['newDiscount', 'discounts/new'],
  ['newPost', 'blog/new'],
] as const

const accountSettings = ['password', 'twoFactor', 'sessions', 'language'] as const

/** Whether the person's role may open a page of the shop. */
function canOpen(href: string): boolean {
  return shop.value !== undefined && hasRole(screenAt(href)?.roles)
}

function allEntries(): readonly Entry[] {
  const screens = availableScreens().map(
    (screen): Entry => ({
      ...{ key: screen.path, group: shellText('pages'), text: screenName(screen), href: screenHref(screen) },
      synonyms: t.find(`words.${screen.nav?.textKey}`) ?? '',
    }),
  )
  const actions = createActions.map(([key, path]): Entry => {
    const href = shopPath(...path.split('/'))
    return { key, group: t('actions'), text: t(key), href, synonyms: t(`words.${key}`) }
  })
  const settings = accountSettings.map(
    (key): Entry => ({ key, group: shellText('account'), text: t(key), href: '/console/account', synonyms: t(`words.${key}`) }),
  )
  const schemes = colorSchemes.map(
    (scheme): Entry => ({
      ...{ key: scheme, group: t('actions'), text: shellText(`scheme.${scheme}`), href: '', synonyms: t('words.scheme') },
      run: () => chooseColorScheme(scheme),
    }),
  )
  const help: Entry[] = [
    { key: 'shortcuts', group: t('actions'), text: t('shortcuts'), href: '', synonyms: t('words.shortcuts'), run: openShortcuts },
    {
      ...{ key: 'docs', group: t('actions'), text: shellText('docs'), href: '/docs', synonyms: t('words.docs') },
      run: () => void open('/docs', '_blank', 'noreferrer'),
    },
  ]
  return [...screens, ...actions.filter(({ href }) => canOpen(href)), ...settings, ...schemes, ...help]
}

/** Returns the entries in whose text or synonyms each typed word begins a word; none without a text. */
export function findEntries(input: string): readonly PaletteEntry[] {
  const typedWords = wordsOf(input)
  if (typedWords.length === 0) return []
  return allEntries().filter(({ text, synonyms }) => {
    const entryWords = wordsOf(`${text} ${synonyms}`)
    return typedWords.every((word) => entryWords.some((entryWord) => entryWord.startsWith(word)))
  })
}

const wordsOf = (text: string): readonly string[] =>
  foldText(text)
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
