import { catalog } from '../../lib/i18n/catalog.ts'

export const t = catalog({ en: () => import('./i18n.en.ts'), ar: () => import('./i18n.ar.ts'), mn: () => import('./i18n.mn.ts') })
