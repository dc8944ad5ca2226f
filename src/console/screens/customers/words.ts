import { catalog } from '../../lib/words.ts'

export const w = catalog({ en: () => import('./words/en.ts'), ar: () => import('./words/ar.ts'), mn: () => import('./words/mn.ts') })
