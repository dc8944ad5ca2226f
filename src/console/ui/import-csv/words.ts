import { catalog } from '../../lib/words.ts'

/** What imports of files say, whatever they import; a screen with one names it beside its own words. */
export const i = catalog({ en: () => import('./words/en.ts'), ar: () => import('./words/ar.ts'), mn: () => import('./words/mn.ts') })
