/** Every migration of both trees, in order, inside the program: the binary needs no file beside it. */
import type { Migration } from './pending.ts'
import postgresFirst from './postgres/0000_first.sql' with { type: 'text' }
import postgresSearch from './postgres/0001_search.sql' with { type: 'text' }
import postgresSelling from './postgres/0002_selling.sql' with { type: 'text' }
import postgresTruth from './postgres/0003_truth.sql' with { type: 'text' }
import postgresAttempt from './postgres/0004_attempt.sql' with { type: 'text' }
import postgresKyb from './postgres/0005_kyb.sql' with { type: 'text' }
import postgresResolver from './postgres/0006_resolver.sql' with { type: 'text' }
import postgresPayments from './postgres/0007_payments.sql' with { type: 'text' }
import postgresAccounts from './postgres/0008_accounts.sql' with { type: 'text' }
import postgresHosts from './postgres/0009_hosts.sql' with { type: 'text' }
import postgresRefunds from './postgres/0010_refunds.sql' with { type: 'text' }
import postgresLending from './postgres/0011_lending.sql' with { type: 'text' }
import postgresCredit from './postgres/0012_credit.sql' with { type: 'text' }
import postgresLendingKept from './postgres/0013_lending_kept.sql' with { type: 'text' }
import postgresTrust from './postgres/0014_trust.sql' with { type: 'text' }
import postgresTrustKept from './postgres/0015_trust_kept.sql' with { type: 'text' }
import postgresKpi from './postgres/0016_kpi.sql' with { type: 'text' }
import postgresJobs from './postgres/0017_jobs.sql' with { type: 'text' }
import postgresPlatform from './postgres/0018_platform.sql' with { type: 'text' }
import postgresRankings from './postgres/0019_rankings.sql' with { type: 'text' }
import postgresKeySums from './postgres/0020_key-sums.sql' with { type: 'text' }
import postgresMail from './postgres/0021_mail.sql' with { type: 'text' }
import postgresDiscounts from './postgres/0022_discounts.sql' with { type: 'text' }
import postgresShipping from './postgres/0023_shipping.sql' with { type: 'text' }
import postgresMedia from './postgres/0024_media.sql' with { type: 'text' }
import postgresSecondFactor from './postgres/0025_second-factor.sql' with { type: 'text' }
import postgresCustomers from './postgres/0026_customers.sql' with { type: 'text' }
import postgresOrders from './postgres/0027_orders.sql' with { type: 'text' }
import postgresWeek from './postgres/0028_week.sql' with { type: 'text' }
import postgresConsole from './postgres/0029_console.sql' with { type: 'text' }
import postgresOperator from './postgres/0030_operator.sql' with { type: 'text' }
import postgresWebhookSkipped from './postgres/0031_webhook-skipped.sql' with { type: 'text' }
import postgresCatalogLists from './postgres/0032_catalog-lists.sql' with { type: 'text' }
import postgresMailQuotas from './postgres/0033_mail-quotas.sql' with { type: 'text' }
import postgresUnits from './postgres/0034_units.sql' with { type: 'text' }
import postgresSearchFolds from './postgres/0035_search-folds.sql' with { type: 'text' }
import postgresModes from './postgres/0036_modes.sql' with { type: 'text' }
import postgresStrictProvinces from './postgres/0037_strict-provinces.sql' with { type: 'text' }
import postgresCatalogOrders from './postgres/0038_catalog-orders.sql' with { type: 'text' }
import postgresPrices from './postgres/0039_prices.sql' with { type: 'text' }
import sqliteFirst from './sqlite/0000_first.sql' with { type: 'text' }
import sqliteSearch from './sqlite/0001_search.sql' with { type: 'text' }
import sqliteSelling from './sqlite/0002_selling.sql' with { type: 'text' }
import sqliteTruth from './sqlite/0003_truth.sql' with { type: 'text' }
import sqliteAttempt from './sqlite/0004_attempt.sql' with { type: 'text' }
import sqliteKyb from './sqlite/0005_kyb.sql' with { type: 'text' }
import sqliteResolver from './sqlite/0006_resolver.sql' with { type: 'text' }
import sqlitePayments from './sqlite/0007_payments.sql' with { type: 'text' }
import sqliteAccounts from './sqlite/0008_accounts.sql' with { type: 'text' }
import sqliteHosts from './sqlite/0009_hosts.sql' with { type: 'text' }
import sqliteRefunds from './sqlite/0010_refunds.sql' with { type: 'text' }
import sqliteLending from './sqlite/0011_lending.sql' with { type: 'text' }
import sqliteCredit from './sqlite/0012_credit.sql' with { type: 'text' }
import sqliteLendingKept from './sqlite/0013_lending_kept.sql' with { type: 'text' }
import sqliteTrust from './sqlite/0014_trust.sql' with { type: 'text' }
import sqliteTrustKept from './sqlite/0015_trust_kept.sql' with { type: 'text' }
import sqliteKpi from './sqlite/0016_kpi.sql' with { type: 'text' }
import sqliteJobs from './sqlite/0017_jobs.sql' with { type: 'text' }
import sqlitePlatform from './sqlite/0018_platform.sql' with { type: 'text' }
import sqliteRankings from './sqlite/0019_rankings.sql' with { type: 'text' }
import sqliteKeySums from './sqlite/0020_key-sums.sql' with { type: 'text' }
import sqliteMail from './sqlite/0021_mail.sql' with { type: 'text' }
import sqliteDiscounts from './sqlite/0022_discounts.sql' with { type: 'text' }
import sqliteShipping from './sqlite/0023_shipping.sql' with { type: 'text' }
import sqliteMedia from './sqlite/0024_media.sql' with { type: 'text' }
import sqliteSecondFactor from './sqlite/0025_second-factor.sql' with { type: 'text' }
import sqliteCustomers from './sqlite/0026_customers.sql' with { type: 'text' }
import sqliteOrders from './sqlite/0027_orders.sql' with { type: 'text' }
import sqliteWeek from './sqlite/0028_week.sql' with { type: 'text' }
import sqliteConsole from './sqlite/0029_console.sql' with { type: 'text' }
import sqliteOperator from './sqlite/0030_operator.sql' with { type: 'text' }
import sqliteWebhookSkipped from './sqlite/0031_webhook-skipped.sql' with { type: 'text' }
import sqliteCatalogLists from './sqlite/0032_catalog-lists.sql' with { type: 'text' }
import sqliteMailQuotas from './sqlite/0033_mail-quotas.sql' with { type: 'text' }
import sqliteUnits from './sqlite/0034_units.sql' with { type: 'text' }
import sqliteSearchFolds from './sqlite/0035_search-folds.sql' with { type: 'text' }
import sqliteModes from './sqlite/0036_modes.sql' with { type: 'text' }
import sqliteStrictProvinces from './sqlite/0037_strict-provinces.sql' with { type: 'text' }
import sqliteCatalogOrders from './sqlite/0038_catalog-orders.sql' with { type: 'text' }
import sqlitePrices from './sqlite/0039_prices.sql' with { type: 'text' }

export const sqliteMigrations: readonly Migration[] = [
  { tag: '0000_first', statements: sqliteFirst },
  { tag: '0001_search', statements: sqliteSearch },
  { tag: '0002_selling', statements: sqliteSelling },
  { tag: '0003_truth', statements: sqliteTruth },
  { tag: '0004_attempt', statements: sqliteAttempt },
  { tag: '0005_kyb', statements: sqliteKyb },
  { tag: '0006_resolver', statements: sqliteResolver },
  { tag: '0007_payments', statements: sqlitePayments },
  { tag: '0008_accounts', statements: sqliteAccounts },
  { tag: '0009_hosts', statements: sqliteHosts },
  { tag: '0010_refunds', statements: sqliteRefunds },
  { tag: '0011_lending', statements: sqliteLending },
  { tag: '0012_credit', statements: sqliteCredit },
  { tag: '0013_lending_kept', statements: sqliteLendingKept },
  { tag: '0014_trust', statements: sqliteTrust },
  { tag: '0015_trust_kept', statements: sqliteTrustKept },
  { tag: '0016_kpi', statements: sqliteKpi },
  { tag: '0017_jobs', statements: sqliteJobs },
  { tag: '0018_platform', statements: sqlitePlatform },
  { tag: '0019_rankings', statements: sqliteRankings },
  { tag: '0020_key-sums', statements: sqliteKeySums },
  { tag: '0021_mail', statements: sqliteMail },
  { tag: '0022_discounts', statements: sqliteDiscounts },
  { tag: '0023_shipping', statements: sqliteShipping },
  { tag: '0024_media', statements: sqliteMedia },
  { tag: '0025_second-factor', statements: sqliteSecondFactor },
  { tag: '0026_customers', statements: sqliteCustomers },
  { tag: '0027_orders', statements: sqliteOrders },
  { tag: '0028_week', statements: sqliteWeek },
  { tag: '0029_console', statements: sqliteConsole },
  { tag: '0030_operator', statements: sqliteOperator },
  { tag: '0031_webhook-skipped', statements: sqliteWebhookSkipped },
  { tag: '0032_catalog-lists', statements: sqliteCatalogLists },
  { tag: '0033_mail-quotas', statements: sqliteMailQuotas },
  { tag: '0034_units', statements: sqliteUnits },
  { tag: '0035_search-folds', statements: sqliteSearchFolds },
  { tag: '0036_modes', statements: sqliteModes },
  { tag: '0037_strict-provinces', statements: sqliteStrictProvinces },
  { tag: '0038_catalog-orders', statements: sqliteCatalogOrders },
  { tag: '0039_prices', statements: sqlitePrices },
]

export const postgresMigrations: readonly Migration[] = [
  { tag: '0000_first', statements: postgresFirst },
  { tag: '0001_search', statements: postgresSearch },
  { tag: '0002_selling', statements: postgresSelling },
  { tag: '0003_truth', statements: postgresTruth },
  { tag: '0004_attempt', statements: postgresAttempt },
  { tag: '0005_kyb', statements: postgresKyb },
  { tag: '0006_resolver', statements: postgresResolver },
  { tag: '0007_payments', statements: postgresPayments },
  { tag: '0008_accounts', statements: postgresAccounts },
  { tag: '0009_hosts', statements: postgresHosts },
  { tag: '0010_refunds', statements: postgresRefunds },
  { tag: '0011_lending', statements: postgresLending },
  { tag: '0012_credit', statements: postgresCredit },
  { tag: '0013_lending_kept', statements: postgresLendingKept },
  { tag: '0014_trust', statements: postgresTrust },
  { tag: '0015_trust_kept', statements: postgresTrustKept },
  { tag: '0016_kpi', statements: postgresKpi },
  { tag: '0017_jobs', statements: postgresJobs },
  { tag: '0018_platform', statements: postgresPlatform },
  { tag: '0019_rankings', statements: postgresRankings },
  { tag: '0020_key-sums', statements: postgresKeySums },
  { tag: '0021_mail', statements: postgresMail },
  { tag: '0022_discounts', statements: postgresDiscounts },
  { tag: '0023_shipping', statements: postgresShipping },
  { tag: '0024_media', statements: postgresMedia },
  { tag: '0025_second-factor', statements: postgresSecondFactor },
  { tag: '0026_customers', statements: postgresCustomers },
  { tag: '0027_orders', statements: postgresOrders },
  { tag: '0028_week', statements: postgresWeek },
  { tag: '0029_console', statements: postgresConsole },
  { tag: '0030_operator', statements: postgresOperator },
  { tag: '0031_webhook-skipped', statements: postgresWebhookSkipped },
  { tag: '0032_catalog-lists', statements: postgresCatalogLists },
  { tag: '0033_mail-quotas', statements: postgresMailQuotas },
  { tag: '0034_units', statements: postgresUnits },
  { tag: '0035_search-folds', statements: postgresSearchFolds },
  { tag: '0036_modes', statements: postgresModes },
  { tag: '0037_strict-provinces', statements: postgresStrictProvinces },
  { tag: '0038_catalog-orders', statements: postgresCatalogOrders },
  { tag: '0039_prices', statements: postgresPrices },
]
