export default {
  title: 'Join the shop',
  text: 'You were invited to work in a shop. Choose a password. If your email already has an account, enter its password.',
  joined: 'Log in to open {shop}.',
  join: 'Join',
  login: 'Log in',
  name: 'Your name',
  nameHint: 'Shown to the shop’s staff',
  password: 'Password',
  passwordHint: 'At least 10 characters',
} as const
