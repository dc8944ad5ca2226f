/** The texts of the policies, by language. They are examples: replace those of your language before you sell. */
import type { PolicyName } from '../i18n.ts'
import { ar } from './ar.ts'
import { en } from './en.ts'
import { mn } from './mn.ts'

/** Simple HTML: paragraphs, lists and headings. */
export type Policies = Readonly<Record<PolicyName, string>>

const policies: Readonly<Record<string, Policies>> = { en, ar, mn }

export const policiesIn = (language: string): Policies => policies[language] ?? en
