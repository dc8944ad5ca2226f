import { catalog } from '../lib/i18n/catalog.ts'

/** What stands around the screens, and before them. */
export const t = catalog({ en: () => import('./i18n.en.ts'), ar: () => import('./i18n.ar.ts'), mn: () => import('./i18n.mn.ts') })
