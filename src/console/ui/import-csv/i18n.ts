import { catalog } from '../../lib/i18n/catalog.ts'

/** What imports of files say, whatever they import; a screen with one names it beside its own words. */
export const t = catalog({ en: () => import('./i18n.en.ts'), ar: () => import('./i18n.ar.ts'), mn: () => import('./i18n.mn.ts') })
