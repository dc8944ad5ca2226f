CREATE TABLE "lender_status_history" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"lender_id" text COLLATE "C" NOT NULL,
	"position" integer NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"actor" text COLLATE "C" NOT NULL,
	"at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "lenders" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"display_name" text COLLATE "C" NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"version" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "lending_applications" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"merchant_id" text COLLATE "C" NOT NULL,
	"cohort" text COLLATE "C" NOT NULL,
	"tier" text COLLATE "C" NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"requested_amount_usd" bigint,
	"requested_term_months" integer,
	"purpose_code" text COLLATE "C",
	"selected_tier1_partner" text COLLATE "C",
	"selected_tier2_partner" text COLLATE "C",
	"reason" text COLLATE "C",
	"partner_external_ref" text COLLATE "C",
	"submitted_at" bigint,
	"decided_at" bigint,
	"queued_at" bigint NOT NULL,
	"created_by" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"version" integer NOT NULL,
	"documentation_completed" text
);
--> statement-breakpoint
CREATE TABLE "lending_decisions" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"application_id" text COLLATE "C" NOT NULL,
	"decision" text COLLATE "C" NOT NULL,
	"assessment" text COLLATE "C",
	"envelope" text COLLATE "C",
	"rule_version" text COLLATE "C",
	"actor" text COLLATE "C" NOT NULL,
	"at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "lending_documents" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"application_id" text COLLATE "C" NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"store" text COLLATE "C" NOT NULL,
	"storage_name" text COLLATE "C" NOT NULL,
	"mime_type" text COLLATE "C" NOT NULL,
	"size" bigint NOT NULL,
	"hash" text COLLATE "C" NOT NULL,
	"original_name" text COLLATE "C",
	"sealed_key" text COLLATE "C" NOT NULL,
	"uploaded_by" text COLLATE "C" NOT NULL,
	"uploaded_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "lending_events" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"application_id" text COLLATE "C" NOT NULL,
	"position" integer NOT NULL,
	"type" text COLLATE "C" NOT NULL,
	"from_status" text COLLATE "C",
	"to_status" text COLLATE "C" NOT NULL,
	"actor" text COLLATE "C" NOT NULL,
	"subject" text COLLATE "C",
	"reason" text COLLATE "C",
	"partner_external_ref" text COLLATE "C",
	"at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "merchant_default_days" (
	"merchant_id" text COLLATE "C" NOT NULL,
	"day" integer NOT NULL,
	"defaults" integer NOT NULL,
	CONSTRAINT "merchant_default_days_merchant_id_day_pk" PRIMARY KEY("merchant_id","day")
);
--> statement-breakpoint
CREATE TABLE "merchant_repayment_signals" (
	"merchant_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"total_on_time" integer NOT NULL,
	"total_late" integer NOT NULL,
	"total_defaults" integer NOT NULL,
	"lender_count" integer NOT NULL,
	"most_recent_settlement_at" bigint,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "repayment_reversals" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"repayment_id" text COLLATE "C" NOT NULL,
	"reason" text COLLATE "C" NOT NULL,
	"recorded_by" text COLLATE "C" NOT NULL,
	"recorded_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "repayments" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"merchant_id" text COLLATE "C" NOT NULL,
	"lender_id" text COLLATE "C" NOT NULL,
	"loan_ref" text COLLATE "C" NOT NULL,
	"outcome" text COLLATE "C" NOT NULL,
	"amount_usd" bigint NOT NULL,
	"due_at" bigint NOT NULL,
	"settled_at" bigint,
	"dated_at" bigint NOT NULL,
	"source" text COLLATE "C" NOT NULL,
	"recorded_by" text COLLATE "C" NOT NULL,
	"recorded_at" bigint NOT NULL,
	"reversed_at" bigint
);
--> statement-breakpoint
ALTER TABLE "lender_status_history" ADD CONSTRAINT "lender_status_history_lender_id_lenders_id_fk" FOREIGN KEY ("lender_id") REFERENCES "public"."lenders"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "lending_applications" ADD CONSTRAINT "lending_applications_merchant_id_users_id_fk" FOREIGN KEY ("merchant_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "lending_decisions" ADD CONSTRAINT "lending_decisions_application_id_lending_applications_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."lending_applications"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "lending_documents" ADD CONSTRAINT "lending_documents_application_id_lending_applications_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."lending_applications"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "lending_events" ADD CONSTRAINT "lending_events_application_id_lending_applications_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."lending_applications"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "merchant_default_days" ADD CONSTRAINT "merchant_default_days_merchant_id_users_id_fk" FOREIGN KEY ("merchant_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "merchant_repayment_signals" ADD CONSTRAINT "merchant_repayment_signals_merchant_id_users_id_fk" FOREIGN KEY ("merchant_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "repayment_reversals" ADD CONSTRAINT "repayment_reversals_repayment_id_repayments_id_fk" FOREIGN KEY ("repayment_id") REFERENCES "public"."repayments"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "repayments" ADD CONSTRAINT "repayments_merchant_id_users_id_fk" FOREIGN KEY ("merchant_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "repayments" ADD CONSTRAINT "repayments_lender_id_lenders_id_fk" FOREIGN KEY ("lender_id") REFERENCES "public"."lenders"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "lender_status_history_position" ON "lender_status_history" USING btree ("lender_id","position");--> statement-breakpoint
CREATE INDEX "lenders_status" ON "lenders" USING btree ("status","id");--> statement-breakpoint
CREATE INDEX "lending_applications_merchant" ON "lending_applications" USING btree ("merchant_id","id");--> statement-breakpoint
CREATE INDEX "lending_queue" ON "lending_applications" USING btree ("status","queued_at","id");--> statement-breakpoint
CREATE INDEX "lending_queue_tier" ON "lending_applications" USING btree ("status","tier","queued_at","id");--> statement-breakpoint
CREATE INDEX "lending_queue_cohort" ON "lending_applications" USING btree ("status","cohort","queued_at","id");--> statement-breakpoint
CREATE INDEX "lending_queue_partner1" ON "lending_applications" USING btree ("status","selected_tier1_partner","queued_at","id") WHERE selected_tier1_partner is not null;--> statement-breakpoint
CREATE INDEX "lending_queue_partner2" ON "lending_applications" USING btree ("status","selected_tier2_partner","queued_at","id") WHERE selected_tier2_partner is not null;--> statement-breakpoint
CREATE INDEX "lending_queue_tier_partner1" ON "lending_applications" USING btree ("status","tier","selected_tier1_partner","queued_at","id") WHERE selected_tier1_partner is not null;--> statement-breakpoint
CREATE INDEX "lending_queue_tier_partner2" ON "lending_applications" USING btree ("status","tier","selected_tier2_partner","queued_at","id") WHERE selected_tier2_partner is not null;--> statement-breakpoint
CREATE INDEX "lending_queue_cohort_partner1" ON "lending_applications" USING btree ("status","cohort","selected_tier1_partner","queued_at","id") WHERE selected_tier1_partner is not null;--> statement-breakpoint
CREATE INDEX "lending_queue_cohort_partner2" ON "lending_applications" USING btree ("status","cohort","selected_tier2_partner","queued_at","id") WHERE selected_tier2_partner is not null;--> statement-breakpoint
CREATE INDEX "lending_decisions_application" ON "lending_decisions" USING btree ("application_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "lending_documents_key" ON "lending_documents" USING btree ("application_id","key");--> statement-breakpoint
CREATE UNIQUE INDEX "lending_documents_storage" ON "lending_documents" USING btree ("storage_name");--> statement-breakpoint
CREATE UNIQUE INDEX "lending_events_position" ON "lending_events" USING btree ("application_id","position");--> statement-breakpoint
CREATE UNIQUE INDEX "repayment_reversals_repayment" ON "repayment_reversals" USING btree ("repayment_id");--> statement-breakpoint
CREATE UNIQUE INDEX "repayments_key" ON "repayments" USING btree ("lender_id","loan_ref","due_at") WHERE reversed_at is null;--> statement-breakpoint
CREATE INDEX "repayments_merchant" ON "repayments" USING btree ("merchant_id","id");--> statement-breakpoint
CREATE INDEX "repayments_defaults" ON "repayments" USING btree ("merchant_id","dated_at") WHERE outcome = 'DEFAULT' and reversed_at is null;--> statement-breakpoint
CREATE INDEX "repayments_merchant_lender" ON "repayments" USING btree ("merchant_id","lender_id") WHERE reversed_at is null;--> statement-breakpoint
CREATE INDEX "repayments_settled" ON "repayments" USING btree ("merchant_id","settled_at") WHERE reversed_at is null;