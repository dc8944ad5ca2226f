import { catalog } from '../lib/words.ts'

/** What stands around the screens, and before them. */
export const s = catalog({ en: () => import('./words/en.ts'), ar: () => import('./words/ar.ts'), mn: () => import('./words/mn.ts') })
