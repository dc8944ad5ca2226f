DROP INDEX "kpi_days_ranked";--> statement-breakpoint
DROP INDEX "kpi_days_of_key";--> statement-breakpoint
ALTER TABLE "staff" ADD COLUMN "invited_by_mail" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "staff" ADD COLUMN "accepted_by" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "staff" ADD CONSTRAINT "staff_accepted_by_users_id_fk" FOREIGN KEY ("accepted_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "staff_accepted" ON "staff" USING btree ("accepted_by") WHERE accepted_by is not null;--> statement-breakpoint
CREATE INDEX "kpi_days_ranked" ON "kpi_days" USING btree ("kpi","span","day","value","key") WHERE kpi in ('MERCHANT_CENTS', 'PRODUCT_UNITS', 'TEST_MERCHANT_CENTS', 'TEST_PRODUCT_UNITS');--> statement-breakpoint
CREATE INDEX "kpi_days_of_key" ON "kpi_days" USING btree ("kpi","key","span","day","value") WHERE kpi in ('MERCHANT_CENTS', 'MERCHANT_ORDERS', 'PRODUCT_CENTS', 'PRODUCT_UNITS', 'TEST_MERCHANT_CENTS', 'TEST_MERCHANT_ORDERS', 'TEST_PRODUCT_CENTS', 'TEST_PRODUCT_UNITS');