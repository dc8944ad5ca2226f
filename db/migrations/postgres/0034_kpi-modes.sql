DROP INDEX "kpi_days_ranked";--> statement-breakpoint
DROP INDEX "kpi_days_of_key";--> statement-breakpoint
CREATE INDEX "kpi_days_ranked" ON "kpi_days" USING btree ("kpi","span","day","value","key") WHERE kpi in ('MERCHANT_CENTS', 'PRODUCT_UNITS', 'TEST_MERCHANT_CENTS', 'TEST_PRODUCT_UNITS');--> statement-breakpoint
CREATE INDEX "kpi_days_of_key" ON "kpi_days" USING btree ("kpi","key","span","day","value") WHERE kpi in ('MERCHANT_CENTS', 'MERCHANT_ORDERS', 'PRODUCT_CENTS', 'PRODUCT_UNITS', 'TEST_MERCHANT_CENTS', 'TEST_MERCHANT_ORDERS', 'TEST_PRODUCT_CENTS', 'TEST_PRODUCT_UNITS');