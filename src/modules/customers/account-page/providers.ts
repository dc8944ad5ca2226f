import type { Caller } from '../../../core/caller.ts'
import type { PasswordResetDeps } from '../../identity/password-reset/index.ts'
import type { AccountPageKind } from './domain.ts'

/** What becomes of what somebody sends from one of our own pages. `refused`: what they chose is not taken, and the link stays good. */
export type PageOutcome = 'done' | 'over' | 'refused'
/** What a form holds. */
export type PageForm = { readonly token: string; readonly password: string; readonly name: string }
/** Does what a page is for. `isGood`: whether its link still is; looking does not use it up. */
export type PageAction = {
  readonly isGood: (token: string) => Promise<{ readonly shopId: string | null } | undefined>
  readonly act: (form: PageForm, caller: Caller) => Promise<PageOutcome>
}

export const accountPageProviders = (_deps: PasswordResetDeps) => ({
  /** What pages there are besides that of a new password: modules put theirs here. Of a kind that is not here there is no page. */
  pageActions: new Map<AccountPageKind, PageAction>(),
})
export type AccountPageDeps = PasswordResetDeps & ReturnType<typeof accountPageProviders>
