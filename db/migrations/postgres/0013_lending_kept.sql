CREATE TABLE "document_stores" (
	"kind" text COLLATE "C" PRIMARY KEY NOT NULL,
	"mark" text COLLATE "C" NOT NULL,
	"registered_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE INDEX "lending_applications_drafts" ON "lending_applications" USING btree ("merchant_id") WHERE status = 'DRAFT';--> statement-breakpoint
CREATE INDEX "repayments_reversed" ON "repayments" USING btree ("lender_id","loan_ref","due_at") WHERE reversed_at is not null;--> statement-breakpoint
CREATE INDEX "repayments_loan" ON "repayments" USING btree ("loan_ref","id");--> statement-breakpoint
CREATE INDEX "repayments_outcome" ON "repayments" USING btree ("outcome","id");--> statement-breakpoint
CREATE TRIGGER lending_events_kept BEFORE UPDATE OR DELETE ON lending_events FOR EACH ROW EXECUTE FUNCTION souk_keep_credit_records();--> statement-breakpoint
CREATE TRIGGER lending_events_not_truncated BEFORE TRUNCATE ON lending_events FOR EACH STATEMENT EXECUTE FUNCTION souk_keep_credit_records();--> statement-breakpoint
CREATE TRIGGER lending_decisions_kept BEFORE UPDATE OR DELETE ON lending_decisions FOR EACH ROW EXECUTE FUNCTION souk_keep_credit_records();--> statement-breakpoint
CREATE TRIGGER lending_decisions_not_truncated BEFORE TRUNCATE ON lending_decisions FOR EACH STATEMENT EXECUTE FUNCTION souk_keep_credit_records();
