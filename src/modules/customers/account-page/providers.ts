import type { Caller } from '../../../core/caller.ts'
import type { PasswordResetDeps } from '../../identity/password-reset/index.ts'
import type { AccountPageKind } from './domain.ts'

/**
 * The result of a submitted page. `refused`: the input is not accepted, and the link stays valid. `over`: the link is
 * no longer valid.
 */
type PageOutcome = 'done' | 'over' | 'refused'
/** The fields of a form. */
export type PageForm = { readonly token: string; readonly password: string; readonly name: string }
/** The action of a page. `findLink` checks its link without using it up. */
export type PageAction = {
  readonly findLink: (token: string) => Promise<{ readonly shopId: string | null } | undefined>
  readonly act: (form: PageForm, caller: Caller) => Promise<PageOutcome>
}

export const accountPageProviders = (_deps: PasswordResetDeps) => ({
  /** Actions of pages other than the password reset; modules register theirs. A kind without an action has no page. */
  pageActions: new Map<AccountPageKind, PageAction>(),
})
export type AccountPageDeps = PasswordResetDeps & ReturnType<typeof accountPageProviders>
